/** Formats a session id or a zxid as ZooKeeper prints it: unsigned, in hexadecimal, after 0x. */
export const hex64 = (id: bigint): string => `0x${BigInt.asUintN(64, id).toString(16)}`
