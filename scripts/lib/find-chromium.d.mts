export declare const chromiumNames: readonly string[];
export declare const findChromium: () =>
  | { readonly executablePath: string; readonly args: string[] }
  | undefined;
