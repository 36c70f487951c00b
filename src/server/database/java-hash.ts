// The order in which Java lists a set, as far as clients see it (HashMap, ConcurrentHashMap).

/** Returns the hash code of a string (String.hashCode). */
export function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0
  return hash
}

/**
 * Returns the items in the order of their buckets, and those of a bucket in the given order. (A bucket of nine items
 * becomes a tree in Java, with another order. Items that are not made for it hardly ever share one.)
 * @param capacity the number of buckets, a power of two
 */
export function inBuckets<T>(items: Iterable<T>, capacity: number, hashCode: (item: T) => number): T[] {
  const table = new Array<T[] | undefined>(capacity)
  for (const item of items) {
    const hash = hashCode(item)
    ;(table[(hash ^ (hash >>> 16)) & (capacity - 1)] ??= []).push(item)
  }
  const list: T[] = []
  for (const bucket of table) if (bucket !== undefined) list.push(...bucket)
  return list
}
