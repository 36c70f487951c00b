// Shares items among members by rendezvous hashing: each member scores each item, and the highest score wins. If a
// member leaves, only its items move. If one joins, it gets an equal share from each of the others.

/**
 * Returns the owner of each item; undefined if there are no members. The result depends on nothing but the names, so all
 * members compute the same one. A change of this function would let old and new versions want the same items.
 */
export function ownersOf(items: readonly string[], members: readonly string[]): Map<string, string | undefined> {
  const hashed = members.map(member => ({ member, hash: hashOf(member) }))
  return new Map(
    items.map(item => {
      const itemHash = hashOf(item)
      let owner: string | undefined
      let highest = -1
      for (const { member, hash } of hashed) {
        const score = mix(itemHash ^ hash)
        // Equal scores are rare. Then the names decide.
        if (score < highest || (score === highest && owner !== undefined && member > owner)) continue
        highest = score
        owner = member
      }
      return [item, owner]
    }),
  )
}

/** Returns the FNV-1a hash of the UTF-8 bytes, with its bits mixed. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return mix(hash)
}

/** The final steps of MurmurHash3: each bit of the input changes about half of the bits of the result. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
