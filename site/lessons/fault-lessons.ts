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
        choices: [
          [
            'Client 1: it has not released the lock',
            'It has not released it. But the server has heard nothing of client 1 for more than ten seconds.',
          ],
          'Client 2: the session of client 1 has expired',
          ['Nobody', 'A free lock does not stay free here: somebody waits for it, and is notified.'],
        ],
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
        choices: [
          'It accepts the write',
          [
            'It refuses the write, because client 1 does not hold the lock',
            'How should the store know who holds the lock? It is outside ZooKeeper, and compares only tokens.',
          ],
        ],
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
        choices: [
          ['It accepts it, as before', 'This time the write has a token, and the store has seen that of client 2.'],
          'It refuses it, because it has seen a greater token',
        ],
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
      text: 'What if the data are in ZooKeeper itself? Client 1 works again. This time it is stopped for only 3 seconds, so its session survives. But an operator has deleted the nodes of the lock meanwhile. The server has notified client 1, but a stopped process reads nothing. It writes with `guard()`, a method of the lock that adds an operation of its own to the transaction of the write.',
      focus: { client: 1 },
      question: {
        text: 'Client 1 writes when it goes on. What happens?',
        choices: [
          'The server refuses the write',
          [
            'The write succeeds, because the session of client 1 is alive',
            'The session lives, but this write is a transaction with a check. Look at which node is left of the lock.',
          ],
        ],
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
        choices: [
          [
            'That it exists, because the request was sent',
            'A request that was sent need not arrive: the connection may have ended before.',
          ],
          'Nothing: it may exist or not',
          [
            'That it does not exist, because no answer came',
            'The answer can be lost on its way, after the server has done what it was asked.',
          ],
        ],
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
          'The first node would stay in the queue, and block all behind it while the session lives',
          [
            'Nothing: the server would refuse a second node',
            'It would refuse a second node of the same name. But the server appends a new number to each name.',
          ],
        ],
        play: [{ settle: true }],
        explanation:
          'The server chooses another number for each create, so it would create a second node. Nobody would delete the first: when its turn came, everyone would wait for an owner that does not know of it. So the client has put a UUID, a random number, into the name. Before it creates a node again, it lists the queue, looks for its UUID, and finds its node.',
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
        choices: [
          [
            'No: all servers must agree, or one of them would be old',
            'Being old is allowed: a server that is cut off catches up later. Otherwise the loss of one server would stop all writes.',
          ],
          'Yes: two of three servers are enough',
        ],
        play: [
          { do: { kind: 'cut off', server: 1 } },
          { do: { kind: 'call', client: 2, call: { op: 'set', path: '/a', data: 'new' } } },
          { settle: true },
        ],
        explanation:
          'The write succeeds: the leader and the other follower are a majority. The server that is cut off does not hear of it.',
        focus: { client: 2 },
      },
    },
    {
      play: [],
      text: 'The follower that is cut off has not noticed yet: it has only not heard from its leader for a moment.',
      focus: { server: 1 },
      question: {
        text: 'Client 1 reads `/a` from it. What does it get?',
        choices: [
          ['`new`', 'This server has not heard of the new value: the line to the leader is cut.'],
          ['An error', 'The server does not know yet that it is cut off, and has the node.'],
          '`old`',
        ],
        play: [{ do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: false } } }, { settle: true }],
        explanation:
          '`old`. Each server answers reads from its own copy, without asking the others. A read can be old in ZooKeeper. A client that must see a write of which it has heard calls `sync` first: its server then catches up with the leader.',
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
          'It closes the connections of its clients',
          [
            'It makes itself the leader, and its clients stay',
            'It has its own vote only: one of three. Nobody can lead without a majority.',
          ],
          [
            'It answers reads for as long as it is cut off',
            'Then its clients would read old data for ever, and could never write. It must not pretend to belong to the others.',
          ],
        ],
        play: [
          { wait: 8000 },
          { settle: true },
          { do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: false } } },
          { settle: true },
        ],
        explanation:
          'It closes them, and looks for a leader. Client 1 has connected to another server with the same session, and reads `new` there.',
        focus: { client: 1 },
      },
    },
    {
      play: [],
      text: 'The leader heard nothing of client 1 for more than five seconds. It is the leader that expires sessions, and the session timeout is ten seconds.',
      focus: { client: 1 },
      question: {
        text: 'Why does the session of client 1 live on?',
        choices: [
          [
            'Because the server that was cut off has kept it alive',
            'The leader expires sessions, and has heard nothing from that server. What it knew of client 1 has not arrived.',
          ],
          [
            'Because a session never ends while its client runs',
            'A session ends when the leader has heard nothing of its client for ten seconds, whether the client runs or not.',
          ],
          'Because client 1 reached another server before the leader’s ten seconds were over',
        ],
        play: [{ do: { kind: 'heal', server: 1 } }, { wait: 2000 }],
        explanation:
          'A server gives up after five seconds, so that its clients have the other five to find a better one. Had client 1 found none in time, its locks would be gone. The line works again now, and the server has fetched what it had missed.',
        focus: { server: 1 },
      },
    },
  ],
}

export const twoHolders: Lesson = {
  id: 'two-holders',
  title: 'The leader’s word',
  summary: 'How a cut-off server could make two clients hold one lock, and whom the holder asks instead.',
  scenario: { recipe: 'mutex', clients: 2, servers: 3, seed: 20 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Client 1 holds the lock, and is connected to server 1, a follower. Client 2 waits, connected to another server. We cut server 1 off from the others. It will answer the pings of its clients for five seconds more. The leader keeps a session of which it hears nothing for ten seconds: the session timeout.',
      focus: { client: 1 },
      question: {
        text: 'Client 1 asks only server 1 whether its session lives. Server 1 answers in its fifth second. Until when would client 1 believe that it holds the lock?',
        choices: [
          [
            'Until ten seconds after the cut, like the leader',
            'Client 1 knows nothing of the cut. Its ten seconds begin again with each answer of server 1.',
          ],
          'Until fifteen seconds after the cut',
          [
            'For five seconds, as long as server 1 answers',
            'After an answer, a client believes for ten seconds that its session lives. Server 1 answers for the last time in its fifth second.',
          ],
        ],
        play: [{ do: { kind: 'cut off', server: 1 } }, { until: { kind: 'request', op: 'sync', client: 1 } }],
        explanation:
          'The ten seconds of client 1 would begin with that answer, and those of the leader began before the cut. In between, two clients would hold the lock. So a holder does not believe its server: this `sync` is a question to the leader.',
        focus: { frame: { kind: 'request', op: 'sync', client: 1 } },
      },
    },
    {
      play: [],
      text: 'Server 1 must pass the `sync` on to the leader, and the line to the leader is cut.',
      focus: { server: 1 },
      question: {
        text: 'No answer comes. What does client 1 do?',
        choices: [
          ['It gives the lock up at once', 'Its lease is not over yet. It has some seconds in which it can still ask.'],
          [
            'It waits: its connection is good',
            'Its connection is good, but the server behind it does not reach the leader. Waiting would cost the lock.',
          ],
          'It leaves this server, and connects to another one with the same session',
        ],
        play: [{ until: { kind: 'answer', op: 'multi', client: 1 } }, { settle: true }],
        explanation:
          'It has moved to another server, and has asked there. An empty transaction, the `multi`, passes through the leader, and its answer is the leader’s word. Client 1 still holds the lock, and knows it.',
        focus: { frame: { kind: 'answer', op: 'multi', client: 1 } },
      },
    },
    {
      play: [],
      text: 'Now client 1 itself is cut off from all servers, for 25 seconds. Its process runs on.',
      focus: { client: 1 },
      question: {
        text: 'Which comes first?',
        choices: [
          'Client 1 stops its work',
          [
            'Client 2 has the lock',
            'Then both would work for a moment. Think of when each of the two clocks begins: that of client 1, and that of the leader.',
          ],
          [
            'Both happen at the same moment',
            'Their clocks do not begin in the same moment. A message takes time on its way.',
          ],
        ],
        play: [{ do: { kind: 'unplug', client: 1, seconds: 25 } }, { wait: 15_000 }],
        explanation:
          'Client 1 stops first. It counts its ten seconds from the moment at which it sent. The leader counts from the moment at which it heard, which is later. Choose one client and then the other, and compare the times at which their programs saw it.',
        focus: { client: 2 },
      },
    },
  ],
}

export const lateWrite: Lesson = {
  id: 'late-write',
  title: 'The write before the new token',
  summary: 'Why a fencing token protects nothing before the new holder has shown its own, and the order that cures it.',
  scenario: { recipe: 'mutex', clients: 2, servers: 1, seed: 21 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'write', client: 1, protection: 'token' } },
        { wait: 500 },
        { do: { kind: 'stop', client: 1, seconds: 15 } },
        { wait: 14_300 },
        { do: { kind: 'write', client: 2, protection: 'token' } },
        { settle: true },
      ],
      text: 'Client 1 was stopped in its work. Client 2 holds the lock now, with a greater token. It has read the store, and works for a second before it writes. In the middle of that second, client 1 wakes up, and writes with its old token.',
      focus: { client: 1 },
      question: {
        text: 'What does the store do with the write of client 1?',
        choices: [
          [
            'It refuses it, because client 2 has the lock and a greater token',
            'The store does not know who has the lock. It compares a token only with those that it has seen. Client 2 has not written yet.',
          ],
          'It accepts it, because it has seen no greater token yet',
        ],
        play: [{ wait: 1600 }],
        explanation:
          'It accepts it: a store knows only the tokens that it has seen. Then client 2 writes, from what it had read before. The write of client 1 was accepted, and is lost all the same.',
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
        { do: { kind: 'write', client: 1, protection: 'registered token' } },
        { wait: 500 },
        { do: { kind: 'stop', client: 1, seconds: 15 } },
        { wait: 14_300 },
      ],
      text: 'The same once more, but now a holder can register its token: it sends it to the store before it writes anything. Client 1 has registered its own, as the store shows, and was then stopped in its work. Client 2 has the lock now, with a greater token.',
      focus: { client: 2 },
      question: {
        text: 'What must client 2 do first, so that the late write is refused?',
        choices: [
          [
            'Read the store, then register its token, then work and write',
            'Between the read and the registration, the late write can still come. Then what client 2 has read is old.',
          ],
          'Register its token at the store, then read, work and write',
          [
            'Ask ZooKeeper once more whether it holds the lock, then write',
            'The answer may be old when the write arrives. The process can be stopped in between, as client 1 was.',
          ],
        ],
        play: [{ do: { kind: 'write', client: 2, protection: 'registered token' } }, { wait: 2000 }],
        explanation:
          'First the token, then the read. From then on the store refuses each older write, so what client 2 has read cannot change behind its back. A read before the registration could be followed by a late write.',
        focus: { client: 2 },
      },
    },
  ],
}

export const reconnectStorm: Lesson = {
  id: 'reconnect-storm',
  title: 'The reconnect storm',
  summary: 'What a server gets when all its clients come back, and why they do not come at once.',
  scenario: { recipe: 'mutex', clients: 12, servers: 1, seed: 22 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Client 1 holds a lock, and eleven wait. We restart the server: it is away for a second, and all twelve connections end in the same moment.',
      focus: { server: 1 },
      question: {
        text: 'Who has the lock while the server is away?',
        choices: [
          [
            'Nobody',
            'A lock is free when its node is gone. Nobody has deleted the node, and the session has not ended.',
          ],
          [
            'The client that comes back first',
            'The order in which clients connect does not matter. What matters is who owns the node with the lowest number.',
          ],
          'Client 1',
        ],
        play: [{ do: { kind: 'restart server', server: 1 } }, { wait: 900 }],
        explanation:
          'Client 1. A session is not its connection: session and nodes are kept, and the timeout is ten seconds. But client 1 must stop in time, if it cannot connect again.',
        focus: { client: 1 },
      },
    },
    {
      play: [],
      text: 'The server will be back in a moment. All twelve clients lost their connections at the same time. Each will connect again, and each waiter has watches to set again then.',
      focus: { server: 1 },
      question: {
        text: 'At which moments do the twelve clients connect?',
        choices: [
          [
            'All in the same moment, as they were lost',
            'They would, if each tried again after the same time. Then the server would have to serve all of them at once, and the clients avoid that.',
          ],
          'Spread over about a second, each after a random pause',
          [
            'In the order of their numbers',
            'They would have to agree on who comes first. But no client knows of the others.',
          ],
        ],
        play: [{ wait: 1500 }, { settle: true }],
        explanation:
          'Each client waits for a random time before it tries again. If ten thousand came in the same moment, the server would answer the last of them too late, and they would all try again.',
        focus: { frame: { kind: 'connect' } },
      },
    },
    {
      play: [],
      text: 'Each waiter has sent one `setWatches`, with the paths of all its watches. It also contains a zxid: the number of the last write that the waiter has seen.',
      focus: { frame: { kind: 'request', op: 'setWatches' } },
      question: {
        text: 'What is the zxid for?',
        choices: [
          'So that the server can tell what has changed since',
          [
            'So that the server can check that the client may read these nodes',
            'What a client may read depends on who it is. It has said that with its session, and a zxid says nothing of it.',
          ],
        ],
        play: [],
        explanation:
          'A change while the client was away must not be missed. If a watched node has changed after that zxid, the server sends the notification instead of setting the watch. Here nothing has changed.',
        focus: { frame: { kind: 'answer', op: 'setWatches' } },
      },
    },
  ],
}
