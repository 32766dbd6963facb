/**
 * Limits the nesting of objects and lists from untrusted queues, because JSON.stringify and schemas
 * recurse.
 */
const MOST_LEVELS = 64;

const isNest = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * Whether a value has more levels than a description needs. Visits level by level, without
 * recursion.
 */
export function nestsDeeply(value: unknown): boolean {
  let level = [value].filter(isNest);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MOST_LEVELS) return true;
    level = level.flatMap((each) => Object.values(each).filter(isNest));
  }
  return false;
}
