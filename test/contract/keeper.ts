// The cases of the contract that ClickHouse Keeper cannot keep, by their titles: it resumes no session, sends no reply to
// closeSession, lacks operations of ZooKeeper, and names itself in four-letter words.

const inEachVersion: readonly string[] = [
  // getAllChildrenNumber, getEphemerals, whoAmI
  'children are listed with and without a Stat, and descendants are counted',
  'getEphemerals lists the session’s own ephemeral nodes with a prefix',
  'are returned in the server’s order if a request has several mistakes',
  'one matching identity and entry is enough',
  'identities have the order of a set of Java, in the list of them and in place of auth',
  // sessions
  'live on without a connection, and are resumed with their id and password',
  'have one connection: a later one closes the earlier one',
  'cannot be resumed with a wrong password',
  'end with closeSession: the server replies and closes the connection, and the session cannot be resumed',
  'with an unknown id are rejected as expired',
  // four-letter words
  'dump: a session that has had ephemeral nodes, even if none is left',
  'envi: the version',
  'srvr: the version, counts and mode',
  'srvr and mntr: the number of nodes, with the root counted twice',
  'stat: srvr, and the connections',
  'mntr: metrics by name',
]

const beforeContainers: readonly string[] = [
  'container',
  'persistentTTL',
  'persistentSequentialTTL',
  'a ttl is from 1 to 2^40 - 1 milliseconds, and requires a mode with ttl',
]

/** The versions that the contract runs on, each with the cases that it cannot keep. docs/keeper.md says what they lack. */
export const keepers: Readonly<Record<string, readonly string[]>> = {
  '25.12': [...inEachVersion, ...beforeContainers],
  '26.7': inEachVersion,
}
