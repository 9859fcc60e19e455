/** Sends JSON to a path of the hub. */
export const postJson = (path: string, body: object): Promise<Response> =>
  fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
