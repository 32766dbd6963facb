/**
 * The bytes of a model that is served beside the page, with progress as they come. The browser
 * keeps them under their address, which changes with their content, so that the next visit does not
 * wait; what it keeps has been read as a model once.
 */
import { concatArrays } from "diffeo/host";

const CACHE = "diffeo-models";

/** Where a page is not served securely the browser offers no cache. */
const openCache = (): Promise<Cache | undefined> =>
  "caches" in globalThis ? caches.open(CACHE).catch(() => undefined) : Promise.resolve(undefined);

/**
 * A size to show progress by where the host does not give one: that of the shipped model, about.
 */
const USUAL = 2 ** 24;

async function read(response: Response, onProgress: (share: number) => void): Promise<Uint8Array> {
  const size = Number(response.headers.get("content-length")) || USUAL;
  const parts: Uint8Array[] = [];
  let loaded = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    parts.push(part.value);
    loaded += part.value.length;
    onProgress(Math.min(1, loaded / size));
  }
  return concatArrays((length) => new Uint8Array(length), parts);
}

/** The address without the mark of its content. */
const nameOf = (url: string): string => url.replace(/-[\w-]+(\.\w+)$/, "$1");

/**
 * Keeps a model's bytes in place of older ones of its name. No room is no trouble: they will be
 * fetched again.
 */
async function keep(cache: Cache, url: string, bytes: Uint8Array): Promise<void> {
  for (const { url: old } of await cache.keys())
    if (nameOf(old) === nameOf(url)) await cache.delete(old);
  const headers = { "content-length": String(bytes.length) };
  await cache.put(url, new Response(bytes as BlobPart, { headers })).catch(() => undefined);
}

/**
 * What `parse` makes of the bytes at an address.
 * @param onProgress the share that has come
 */
export async function servedModel<M>(
  url: string,
  parse: (bytes: Uint8Array) => M,
  onProgress: (share: number) => void,
): Promise<M> {
  const cache = await openCache();
  const kept = await cache?.match(url);
  const response = kept ?? (await fetch(url).catch(() => undefined));
  if (!response?.ok)
    throw new Error(
      `The model did not arrive${response ? ` (status ${response.status})` : ""}. See that ${url} is served, and try again.`,
    );
  const bytes = await read(response, onProgress);
  const model = parse(bytes);
  if (cache && !kept) await keep(cache, url, bytes);
  return model;
}
