// What a program of the editor can use: each entry is a line that runs. The page lists them.

export interface Ability {
  /** A line of a program. */
  readonly code: string
  /** What it does, and what it returns. Code stands between backticks. */
  readonly meaning: string
}

export interface Abilities {
  readonly title: string
  readonly list: readonly Ability[]
}

export const ABILITIES: readonly Abilities[] = [
  {
    title: 'The nodes',
    list: [
      {
        code: "const { path } = await zk.create('/a', 'text', { mode: 'ephemeral' })",
        meaning:
          'creates a node. Modes: `persistent`, which is the default, `ephemeral`, `persistentSequential`, `ephemeralSequential`. The server ends the path of a sequential node with a number of ten digits',
      },
      {
        code: "const { data, stat } = await zk.getData('/a')",
        meaning:
          '`data` are bytes: `data.length` is 0 if there are none, and `data.toString()` is their text. `stat.version` says how often the data have changed',
      },
      {
        code: "await zk.setData('/a', 'new', { version: stat.version })",
        meaning:
          'writes only if the node still has this version, otherwise it fails with `BADVERSION`. Without a version it always writes',
      },
      { code: "const found = await zk.exists('/a')", meaning: 'the stat of the node, or `null`' },
      {
        code: "const { children } = await zk.getChildren('/')",
        meaning: 'the names of the nodes below, in no order: an array of texts, which you can `sort()`',
      },
      {
        code: "await zk.exists('/a', { watch: () => console.log('changed') })",
        meaning:
          'calls the function once, at the next change of the node. `getData` and `getChildren` take a `watch` too. `exists` watches a node that is not there yet',
      },
      { code: "await zk.delete('/a')", meaning: 'deletes the node. It takes a `version` too' },
      {
        code: "await zk.sync('/')",
        meaning: 'lets the server of this client catch up with the leader: a read after it is not old',
      },
      {
        code: "try { await zk.delete('/none') } catch (error) { console.log(error.code) }",
        meaning:
          'a call that fails throws an error with a `code`: `NONODE`, `NODEEXISTS`, `BADVERSION`, `NOTEMPTY`, `CONNECTIONLOSS`, `SESSIONEXPIRED`',
      },
    ],
  },
  {
    title: 'The judge, and time',
    list: [
      { code: 'enter(); leave()', meaning: 'tell the judge that this client is inside, and is not any more' },
      {
        code: 'console.log(me, clients)',
        meaning: 'writes into the journal of the client: its number, from 1, and how many clients there are',
      },
      { code: 'await sleep(100)', meaning: 'waits for 100 virtual milliseconds' },
      {
        code: 'setTimeout(() => console.log(Date.now(), Math.random()), 5)',
        meaning: 'virtual time too. Chance is the same in each run. There is no `setInterval`, no network and no page',
      },
    ],
  },
  {
    title: 'Faults of this client',
    list: [
      { code: 'await stop(1)', meaning: 'its process does nothing for a second, as in a long garbage collection' },
      { code: 'await unplug(1)', meaning: 'nothing that it sends or gets arrives for a second' },
      { code: 'await cut()', meaning: 'ends its connection, and both ends notice. It connects again' },
      { code: 'await kill()', meaning: 'its process dies: nothing after this runs' },
    ],
  },
  {
    title: 'Locks that are ready',
    list: [
      {
        code: "const held = await new Mutex(zk, '/lock').acquire()",
        meaning: 'all of `zkwire` and `zkwire/recipes` is there, also without an import',
      },
      {
        code: "import { connect } from 'zkwire'",
        meaning:
          'code of the documents runs as it is: `connect()` and `supervise()` give the client `zk`, whatever the servers, and `Server` of `zkwire/server` stands for the server of the page',
      },
      { code: 'await held.release()', meaning: 'gives the lock to the next client' },
    ],
  },
]
