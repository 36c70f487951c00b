// Hashes of node:crypto. The only file that knows it.
import { createHash, timingSafeEqual } from 'node:crypto'

/** @throws Error where MD5 is switched off, as in builds that keep to FIPS 140 */
export const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest()

export const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest()

/** Compares in a time that does not tell where the first difference is. */
export const isSameSecret = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
