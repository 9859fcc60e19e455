/** A line of its own. What a file says has a sign before it in a diff, and so cannot be taken for this. */
const cutLine = /^\[the [a-z ]{1,40} is cut here\b/m;

/**
 * True for a preview that leaves something out. A tool says so in the preview itself, with a line that begins like
 * `[the diff is cut here`: so a human, each client and a later server see the same. No one has seen what such a preview
 * stands for, and another action can look the same: it can be allowed once, never for always.
 */
export const isPreviewCut = (preview: string | undefined): boolean =>
  preview !== undefined && cutLine.test(preview);
