// Hashes. Only this file imports node:crypto.
import { createHash, timingSafeEqual } from 'node:crypto'

/** @throws Error if the runtime has no MD5, as in FIPS 140 builds */
export const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest()

export const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest()

/** Compares in a time that does not depend on the contents. */
export const isSameSecret = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
