// The hashes that passwords and digests are made with.
export { isSameSecret, md5, sha1 } from '../machine/hash.ts'
