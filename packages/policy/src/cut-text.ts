/** The string, cut to `maxLength` with an ellipsis at its end. */
export const cutText = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
