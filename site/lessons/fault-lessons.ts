// Lessons about faults.
import type { Lesson } from './lesson.ts'

export const stalledHolder: Lesson = {
  id: 'stalled-holder',
  title: 'The stalled holder',
  summary: 'Why a lock alone cannot protect a store, and what a fencing token and guard() are for.',
  scenario: { recipe: 'mutex', clients: 2, servers: 1, seed: 8 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'write', client: 1, protection: 'nothing' } },
        { wait: 500 },
        { do: { kind: 'stop', client: 1, seconds: 15 } },
      ],
      text: 'Client 1 holds the lock. It has checked that, and works for a second before it writes to a store outside ZooKeeper. In the middle of that second a garbage collection stops its process for 15 seconds.',
      focus: { client: 1 },
      question: {
        text: 'The session timeout is 10 seconds. Who holds the lock when the process goes on?',
        choices: ['Client 1: it has not released the lock', 'Client 2: the session of client 1 has expired', 'Nobody'],
        answer: 1,
        play: [{ wait: 13_000 }],
        explanation:
          'The server has heard nothing from client 1, has expired its session, and has deleted its node. Client 2 was notified and holds the lock. Client 1 sleeps, and knows nothing of it.',
        focus: { client: 2 },
      },
    },
    {
      play: [{ do: { kind: 'write', client: 2, protection: 'token' } }, { wait: 1100 }],
      text: 'Client 2 has written to the store, with its fencing token. Client 1 will wake up in a moment. It has checked before, so it will not check again: it just writes.',
      focus: { client: 1 },
      question: {
        text: 'Client 1 sends its write without a token. What does the store do?',
        choices: ['It accepts the write', 'It refuses the write, because client 1 does not hold the lock'],
        answer: 0,
        play: [{ wait: 3000 }, { settle: true }],
        explanation:
          'It accepts it, and the write of client 2 is lost. The store knows nothing of locks. No lock service can prevent this, because no check is the last thing before the write.',
        focus: { client: 1 },
      },
    },
    {
      play: [
        { do: { kind: 'join', client: 1 } },
        { settle: true },
        { do: { kind: 'release', client: 2 } },
        { settle: true },
        { do: { kind: 'join', client: 2 } },
        { settle: true },
        { do: { kind: 'write', client: 1, protection: 'token' } },
        { wait: 500 },
        { do: { kind: 'stop', client: 1, seconds: 15 } },
        { wait: 13_000 },
        { do: { kind: 'write', client: 2, protection: 'token' } },
        { wait: 1100 },
      ],
      text: 'The same once more: client 1 has the lock again, works, and is stopped. Client 2 gets the lock, and writes. But this time both send the token of their lock with each write: the number of the transaction that created its node.',
      focus: { client: 2 },
      question: {
        text: 'What does the store do with the late write of client 1?',
        choices: ['It accepts the write', 'It refuses it, because it has seen a greater token'],
        answer: 1,
        play: [{ wait: 3000 }, { settle: true }],
        explanation:
          'It refuses the write. Tokens grow from holder to holder, so the store needs to remember only one number. That is all that a store must do.',
        focus: { client: 1 },
      },
    },
    {
      play: [
        { do: { kind: 'join', client: 1 } },
        { settle: true },
        { do: { kind: 'release', client: 2 } },
        { settle: true },
        { do: { kind: 'join', client: 2 } },
        { settle: true },
        { do: { kind: 'write', client: 1, protection: 'guard' } },
        { settle: true },
        { wait: 500 },
        { do: { kind: 'stop', client: 1, seconds: 3 } },
        { do: { kind: 'delete node', path: '/lock' } },
        { settle: true },
      ],
      text: 'What if the data are in ZooKeeper itself? Client 1 works again. This time it is stopped for only 3 seconds, so its session survives. But an operator has deleted the nodes of the lock meanwhile. The server has notified client 1, but a stopped process reads nothing.',
      focus: { client: 1 },
      question: {
        text: 'Client 1 writes by `guard()`. What happens?',
        choices: [
          'The write succeeds, because the session is alive',
          'The server refuses the write, because the node of the lock is gone',
        ],
        answer: 1,
        play: [{ wait: 4000 }, { settle: true }],
        explanation:
          '`guard()` puts the check into the same transaction as the write: if the node of the lock does not exist, nothing is written. Here the check is the last thing before the write.',
        focus: { frame: { kind: 'answer', op: 'multi', client: 1 } },
      },
    },
  ],
}

export const lostAnswer: Lesson = {
  id: 'lost-answer',
  title: 'The lost answer',
  summary: 'How a client finds a node again whose create was answered, but whose answer was lost.',
  scenario: { recipe: 'mutex-without-look-ahead', clients: 2, servers: 1, seed: 9 },
  steps: [
    {
      play: [{ until: { kind: 'request', client: 2, op: 'create2' } }, { do: { kind: 'lose answer', client: 2 } }],
      text: 'Client 1 holds the lock. Client 2 has just sent its create: a node with a number that the server will choose. The answer will be lost with the connection.',
      focus: { frame: { kind: 'request', client: 2 } },
      question: {
        text: 'The connection of client 2 ends before the answer arrives. What does client 2 know of its node?',
        choices: ['That it exists', 'That it does not exist', 'Neither: it cannot know'],
        answer: 2,
        play: [{ until: { kind: 'answer', client: 2 } }, { wait: 8 }],
        explanation:
          'It cannot know: the request may be lost, or its answer. We see both ends, and see that the server has created the node.',
        focus: { node: '/lock' },
      },
    },
    {
      play: [],
      text: 'Client 2 connects again, with the id and the password of its session. So its ephemeral node, if there is one, lives on.',
      focus: { client: 2 },
      question: {
        text: 'Client 2 just creates its node again. What is wrong with that?',
        choices: [
          'Nothing: the server would refuse a second node',
          'The first node would stay in the queue, and block all behind it while the session lives',
        ],
        answer: 1,
        play: [{ settle: true }],
        explanation:
          'The server chooses another number for each create, so it would create a second node. Nobody would delete the first: when its turn came, everyone would wait for an owner that does not know of it. So the client has put a random UUID into the name, and lists the queue first: it has found its node again.',
        focus: { frame: { kind: 'answer', client: 2 } },
      },
    },
    {
      play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
      text: 'Client 1 has released the lock, and client 2 holds it, with the node that it found again. There is one node in the queue, and no forgotten one.',
      focus: { node: '/lock' },
    },
  ],
}

export const cutOffFollower: Lesson = {
  id: 'cut-off-follower',
  title: 'A follower that is cut off',
  summary: 'What the clients of one server see when it loses the others.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 3, seed: 13 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'call', client: 2, call: { op: 'create', path: '/a', data: 'old', mode: 'persistent' } } },
        { settle: true },
      ],
      text: 'Three servers: one leads, two follow. Every write goes to the leader, which asks the others. It counts when two of the three have it. Client 1 is connected to a follower, client 2 to another server.',
      focus: { server: 1 },
      question: {
        text: 'We cut the line between that follower and the other servers. Client 2 writes to `/a`. Does the write succeed?',
        choices: ['Yes: two of three servers are enough', 'No: all servers must agree'],
        answer: 0,
        play: [
          { do: { kind: 'cut off', server: 1 } },
          { do: { kind: 'call', client: 2, call: { op: 'set', path: '/a', data: 'new' } } },
          { settle: true },
        ],
        explanation:
          'Yes. The leader and the other follower are a majority. The server that is cut off does not hear of it.',
        focus: { client: 2 },
      },
    },
    {
      play: [],
      text: 'The follower that is cut off has not noticed yet: it has only not heard from its leader for a moment.',
      focus: { server: 1 },
      question: {
        text: 'Client 1 reads `/a` from it. What does it get?',
        choices: ['`new`', '`old`', 'An error'],
        answer: 1,
        play: [{ do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: false } } }, { settle: true }],
        explanation:
          '`old`. Each server answers reads from its own copy, without asking the others. A read can be old in ZooKeeper; a client that must see a write of which it has heard calls `sync` first: its server then catches up with the leader.',
        focus: { frame: { kind: 'answer', client: 1 } },
      },
    },
    {
      play: [],
      text: 'The follower goes on like this for five ticks, here five seconds.',
      focus: { server: 1 },
      question: {
        text: 'And then?',
        choices: [
          'It makes itself the leader',
          'It closes the connections of its clients, because it may be far behind',
          'It answers reads for as long as it is cut off',
        ],
        answer: 1,
        play: [
          { wait: 8000 },
          { settle: true },
          { do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: false } } },
          { settle: true },
        ],
        explanation:
          'It closes them, and looks for a leader. Client 1 has connected to another server with the same session, and reads `new` there. Its locks and other ephemeral nodes have survived.',
        focus: { client: 1 },
      },
    },
    {
      play: [{ do: { kind: 'heal', server: 1 } }, { wait: 2000 }],
      text: 'The line works again. The server follows the leader, and has fetched what it had missed.',
      focus: { server: 1 },
    },
  ],
}
