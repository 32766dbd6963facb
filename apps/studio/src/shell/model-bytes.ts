/**
 * Fetches a model that is served with the page and reports progress. The browser's cache keeps it
 * under its address, which changes with the content, so that the next visit does not wait. Only
 * bytes that were parsed as a model are kept.
 */
import { concatArrays } from "diffeo/host";

const CACHE = "diffeo-models";

/** Undefined for a page that is not served securely: browsers offer it no cache. */
const openCache = (): Promise<Cache | undefined> =>
  "caches" in globalThis ? caches.open(CACHE).catch(() => undefined) : Promise.resolve(undefined);

/** The size to show progress by if the host sends none: about that of the shipped model. */
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

/** The address without the hash of the content. */
const nameOf = (url: string): string => url.replace(/-[\w-]+(\.\w+)$/, "$1");

/**
 * Keeps a model's bytes and removes older versions. If there is no room, the next visit fetches the
 * model again.
 */
async function keep(cache: Cache, url: string, bytes: Uint8Array): Promise<void> {
  for (const { url: old } of await cache.keys())
    if (nameOf(old) === nameOf(url)) await cache.delete(old);
  const headers = { "content-length": String(bytes.length) };
  await cache.put(url, new Response(bytes as BlobPart, { headers })).catch(() => undefined);
}

/**
 * Fetches and parses a model.
 * @param onProgress receives the downloaded share
 * @throws if the model cannot be downloaded
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
      `The model could not be downloaded${response ? ` (status ${response.status})` : ""}. ` +
        "Check that " +
        `${url} is served, and reload the page.`,
    );
  const bytes = await read(response, onProgress);
  const model = parse(bytes);
  if (cache && !kept) await keep(cache, url, bytes);
  return model;
}
