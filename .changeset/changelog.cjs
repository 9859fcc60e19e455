// How a changeset becomes an entry of CHANGELOG.md: its words alone. All packages have one version, so that a list of the others would say
// nothing.
module.exports = {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replaceAll(/\n(?!\n)/g, "\n  ")}`,
  getDependencyReleaseLine: async () => "",
};
