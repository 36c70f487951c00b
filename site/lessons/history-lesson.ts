// The lesson about histories: what one copy of the data could have answered, and what several servers answer.
import type { Command } from '../world/story.ts'
import type { Action, Lesson } from './lesson.ts'

type CallOf = Extract<Command, { kind: 'call' }>['call']

const call = (client: number, call: CallOf): Action => ({ do: { kind: 'call', client, call } })
const create = (path: string): Action => call(2, { op: 'create', path, data: 'old', mode: 'persistent' })
const set = (path: string): Action => call(2, { op: 'set', path, data: 'new' })
const get = (path: string): Action => call(1, { op: 'get', path, watch: false })
const take = (client: number, path: string): Action =>
  call(client, { op: 'create', path, data: `client ${client}`, mode: 'ephemeral' })
const add = (client: number): Action => call(client, { op: 'increment', path: '/n' })
const REST: Action = { settle: true }
/** Long enough for an operation, unless its server lags. */
const MOMENT: Action = { wait: 100 }

export const history: Lesson = {
  id: 'history',
  title: 'A history, judged',
  summary: 'Which results a single copy of the data could have given, what linearizable means, and what `sync` mends.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 3, seed: 13 },
  steps: [
    {
      play: [REST, create('/x'), REST, set('/x'), { wait: 6 }, get('/x'), REST],
      text: 'Client 2 has set `/x` twice, and client 1 has read it. Each bar is an operation: it begins when the client calls, and ends when the client has the result. Imagine a single copy of `/x` that executes one operation after another, each at some moment of its bar. A history is legal, or linearizable, if such a copy could have given each result.',
      focus: { node: '/x' },
      history: { is: 'register', path: '/x' },
      question: {
        text: 'B sets `new`, and C still gets `old`. Is the history legal?',
        choices: [
          [
            'No: B was called before C',
            'An operation need not happen when it is called. It may happen at any moment of its bar, and these two bars overlap.',
          ],
          'Yes: C may stand before B',
          [
            'No: client 1 has asked another server than client 2',
            'A history knows no servers. It has calls and results only, and asks whether a single copy could have given them.',
          ],
        ],
        play: [],
        explanation:
          'The bars of B and C overlap, so either may come first. The page tries one order after another until one fits. The dots are the moments at which the single copy could have done it.',
      },
    },
    {
      play: [create('/y'), REST, { do: { kind: 'lag', server: 1, seconds: 1 } }, set('/y'), MOMENT, get('/y'), MOMENT],
      text: 'Now server 1 lags, to which client 1 is connected: each message between it and the others takes a second longer. Client 2 has set `/y`, and has its result. A moment later, client 1 has read.',
      focus: { server: 1 },
      history: { is: 'register', path: '/y' },
      question: {
        text: 'Is this history legal?',
        choices: [
          [
            'Yes: ZooKeeper allows such a read, because all servers have the writes in one order',
            'It does allow it. The question is another one: could a single copy have given this result?',
          ],
          [
            'Yes: C may stand before B, as in the step before',
            'There the two bars overlapped. Look at the gap between them here: what was over when C was called?',
          ],
          'No: C stands after B, and then the value is `new`',
        ],
        play: [],
        explanation:
          'No order is left, and the page says which result cannot be. Writes of ZooKeeper are linearizable, and reads are not. All servers have the writes in one order, but some have them later.',
      },
    },
    {
      play: [REST, create('/z'), REST, set('/z'), MOMENT],
      text: 'Server 1 still lags. Client 2 has set `/z`, and has its result. This time client 1 sends `sync` first and waits for the answer, which its server gives when it has caught up with the leader. Then it reads.',
      focus: { server: 1 },
      history: { is: 'register', path: '/z' },
      question: {
        text: 'Will the history be legal?',
        choices: [
          'Yes: client 1 gets `new`',
          [
            'No: client 1 gets `old`',
            'The server answers the `sync` after it has applied all that the leader had sent before. Was the set of client 2 among that?',
          ],
        ],
        play: [call(1, { op: 'sync', path: '/z' }), REST, get('/z'), REST],
        explanation:
          '`sync` mends it, and costs a trip to the leader: here two seconds, the dashed bar. A client needs it when it has heard of a write by another way, such as a message of client 2.',
        focus: { client: 1 },
      },
    },
    {
      play: [
        ...[take(2, '/lock'), REST, take(1, '/lock'), { wait: 500 }],
        ...[call(2, { op: 'delete', path: '/lock' }), REST],
      ],
      text: 'The next object is a lock: `take` creates the node `/lock`, and is refused if there is one. `release` deletes it. Client 1, whose server lags, called `take` while client 2 held the lock, and got it.',
      focus: { node: '/lock' },
      history: { is: 'lock', path: '/lock' },
      question: {
        text: 'Is the history legal?',
        choices: [
          [
            'No: client 2 held the lock',
            'It held the lock when client 1 called. Look at the whole bar of B: did client 2 hold the lock to its end?',
          ],
          [
            'No: server 1 lags, and did not know who held the lock',
            'That server does not decide. It passes each write on to the leader, which gives all writes one order.',
          ],
          'Yes: A, C, B',
        ],
        play: [],
        explanation:
          'Writes go through the leader, which gives them one order, however late they arrive. A `take` through a server that lags is slow, and never wrong.',
      },
    },
    {
      play: [take(2, '/door'), MOMENT, call(1, { op: 'exists', path: '/door', watch: false }), MOMENT],
      text: 'Another lock, `/door`. Client 2 has taken it. Client 1 takes nothing: it only looks whether the node exists, and asks its server.',
      focus: { server: 1 },
      history: { is: 'lock', path: '/door' },
      question: {
        text: 'Is this history legal?',
        choices: [
          'No: the lock was held',
          [
            'Yes: only one client has the lock',
            'So the lock is safe. But a look is an operation too: at which moment of its bar was there no holder?',
          ],
          [
            'Yes: to look is no operation on a lock',
            'Its result tells the client something about the lock. A single copy has to give that result at some moment.',
          ],
        ],
        play: [],
        explanation:
          'The look has no place. So a client must not decide by a read alone whether a lock is free. It writes, and sees whether the write is accepted; or it reads after a write or a `sync` of its own.',
      },
    },
    {
      play: [REST, add(2), REST, add(2), MOMENT, add(1), { wait: 500 }, add(2), REST],
      text: 'The last object is a counter, the recipe `Counter`. It reads the number, and writes it with 1 added if the node still has the version that was read. In C, client 1 has first read 1, from its server that lags.',
      focus: { node: '/n' },
      history: { is: 'counter', path: '/n' },
      question: {
        text: 'Is the history legal, although C began with an old number?',
        choices: [
          [
            'No: one increment is lost',
            'Count the results: each number should be there once. The write of C had a version, so what did the leader do with it?',
          ],
          'Yes: none is lost, because the first write of C was refused',
          [
            'No: C began before D, and has the greater number',
            'Their bars overlap. Then either may come first, whichever began earlier.',
          ],
        ],
        play: [],
        explanation:
          'The leader has refused the write with the old version. Client 1 has read again, and written 4. A read that is old does no harm if the write depends on its version.',
      },
    },
  ],
}
