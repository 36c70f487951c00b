// Lessons about the queues of locks.
import type { Lesson } from './lesson.ts'

export const herd: Lesson = {
  id: 'herd',
  title: 'The herd',
  summary: 'What one release costs if every waiter watches the queue.',
  scenario: { recipe: 'herd-mutex', clients: 12, servers: 1, seed: 4 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Twelve clients want one lock. Each has created a node in `/lock`, with a number that the server has appended: 0 for client 1, 1 for client 2, and so on. The client with the lowest number holds the lock. Each of the other eleven has listed `/lock`, and watches the list: the eye counts their watches.',
      focus: { node: '/lock' },
      question: {
        text: 'Client 1 releases the lock: it deletes its node. How many clients does the server notify?',
        choices: [
          [
            'None: the clients ask again and again',
            'That would keep the server busy while nothing changes. Here each client that waits has set a watch, and asks nothing until the server notifies it.',
          ],
          [
            'One: the next in the queue',
            'The server knows nothing of queues. It notifies each client that watches what has changed.',
          ],
          'Eleven: all that wait',
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { until: { kind: 'answer', op: 'delete' } }, { settle: true }],
        explanation:
          'All eleven, because all of them watch the same list. Ten of them wake up for nothing: they list `/lock` again, see that it is not their turn, and set the next watch with the same request.',
        focus: { server: 1 },
      },
    },
    {
      play: [],
      text: 'Look at the counters of this release. 33 frames are a notification, a request and an answer for each of the eleven that waited. Two are the delete and its answer. With the last two, client 2, the new holder, removes its watch. Each of the eleven answers is a list: it contains the names of all that are left.',
      speaksOfCounters: true,
      question: {
        text: 'Twice as many clients: how many bytes does one release cost then?',
        choices: [
          [
            'About as many',
            'Each client that waits is notified and reads a list, and there are more of them. So the bytes must grow.',
          ],
          'About four times as many',
          [
            'About twice as many bytes',
            'There are twice as many answers. But look at what is in one of them: the names of all that wait. So an answer does not stay as long as it is.',
          ],
        ],
        play: [],
        explanation:
          'Twice as many answers, and each is twice as long: four times as many bytes. The cost of one release grows with the square of the number of waiters. Try other numbers in the playground: the plot is a parabola.',
      },
    },
  ],
}

export const chain: Lesson = {
  id: 'chain',
  title: 'The chain',
  summary: 'How a queue wakes one waiter, and not all.',
  scenario: { recipe: 'mutex-without-look-ahead', clients: 12, servers: 1, seed: 5 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'The same twelve clients, the same nodes. But a waiter does not watch the list. It watches one node: that of its predecessor, with the next lower number.',
      focus: { client: 2 },
      question: {
        text: 'Client 1 releases the lock. How many clients does the server notify?',
        choices: [
          'One',
          [
            'Two: the next holder, and the one behind it',
            'The one behind it watches another node, which still exists.',
          ],
          ['Eleven', 'That was the herd. Here each client watches one node only, and no two watch the same.'],
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
        explanation:
          'One: only client 2 watches the node of client 1. The others sleep on. However many clients wait, a release costs the same number of frames.',
        focus: { frame: { kind: 'notification' } },
      },
    },
    {
      play: [],
      text: 'The frames are as many with any number of waiters. But look at the answer to client 2: it has listed the queue, to be sure that it is first.',
      focus: { frame: { kind: 'answer', op: 'getChildren2', client: 2 } },
      question: {
        text: 'Twice as many clients wait. How many bytes does that list have then?',
        choices: [
          ['As many', 'The list names all that wait, and there are more of them.'],
          ['About four times as many', 'It is one list, for one client. In the herd, the number of lists grew too.'],
          'About twice as many',
        ],
        play: [],
        explanation:
          'The list contains the name of each waiter. So the bytes of a release still grow with the queue, though no longer with its square. The lesson on the tickets ends that.',
        focus: { frame: { kind: 'answer', op: 'getChildren2', client: 2 } },
      },
    },
    {
      play: [],
      text: 'Client 2 holds the lock now. The nodes of the queue form a chain, in which each waiter watches the one ahead.',
      focus: { client: 2 },
      question: {
        text: 'Client 3 waits, and its process dies. Who is notified when the server removes its node?',
        choices: [
          [
            'Client 2, the holder',
            'Client 2 does not watch this node. Each client watches the one ahead of it, and client 3 is behind client 2.',
          ],
          'Client 4, the one behind it',
          [
            'Nobody',
            'When a node is removed, the server notifies those that watch it. It does not matter why it was removed.',
          ],
        ],
        play: [{ do: { kind: 'kill', client: 3 } }, { wait: 13_000 }, { settle: true }],
        explanation:
          'Client 4, and it must not believe that it holds the lock now. What it does instead is the next lesson.',
        focus: { client: 4 },
      },
    },
  ],
}

export const listAfterWakeUp: Lesson = {
  id: 'list-after-the-wake-up',
  title: 'Why a list after the wake-up',
  summary: 'Why a woken waiter looks at the queue before it believes that it holds the lock.',
  scenario: { recipe: 'mutex-without-look-ahead', clients: 3, servers: 1, seed: 6 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Client 1 holds the lock, client 2 waits for client 1, and client 3 waits for client 2.',
      focus: { client: 3 },
      question: {
        text: 'The server expires the session of client 2. Client 3 gets the notification that its predecessor is gone. Does client 3 hold the lock?',
        choices: [
          [
            'Yes: nobody is ahead of it any more',
            'Client 2 has not held the lock: it waited too. Look who was ahead of client 2.',
          ],
          'No: client 1 still holds it',
        ],
        play: [{ do: { kind: 'expire', client: 2 } }, { until: { kind: 'notification', client: 3 } }],
        explanation:
          'The notification only says that the watched node is gone. It does not say why: its owner may have released the lock, or may have died while it waited.',
        focus: { frame: { kind: 'notification', client: 3 } },
      },
    },
    {
      play: [{ until: { kind: 'request', client: 3 } }],
      text: 'So client 3 lists the queue before it does anything else.',
      focus: { frame: { kind: 'request', client: 3 } },
      question: {
        text: 'The list shows the nodes of client 1 and client 3. What does client 3 do next?',
        choices: [
          [
            'It creates a new node, at the end of the queue',
            'It would lose its place to all that came after it. Its own node is still in the queue.',
          ],
          [
            'It asks again after a second',
            'The server tells it when something changes, if it sets a watch. Then nobody asks in vain.',
          ],
          'It watches the node of client 1',
        ],
        play: [{ settle: true }],
        explanation:
          'It closes the gap of the chain: its predecessor is client 1 now. Only a waiter that finds itself first in a list holds the lock.',
        focus: { client: 3 },
      },
    },
    {
      play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
      text: 'Client 1 has released, and client 3 was notified, has listed the queue, and was first. Now it holds the lock. The list costs one more trip to the server and back, between the notification and the lock.',
      focus: { client: 3 },
    },
  ],
}

export const oneTrip: Lesson = {
  id: 'one-trip',
  title: 'One trip',
  summary: 'How the next holder has the lock without a list after the wake-up.',
  scenario: { recipe: 'mutex', clients: 6, servers: 1, seed: 7 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'These waiters look ahead. Each has listed the queue while its predecessor held the lock or waited, and watches three nodes: its own, its predecessor, and the one before that. So it has done in advance what the list after the wake-up would do.',
      // Client 2 has no node before its predecessor.
      focus: { client: 3 },
      question: {
        text: 'Each line takes 5 ms. Client 1 releases now. After how many milliseconds does client 2 hold the lock?',
        choices: [
          ['5 ms', 'After 5 ms, the delete has only reached the server. Client 2 knows nothing yet.'],
          '10 ms',
          [
            '20 ms',
            'That would be two trips: one for the notification, and one for a list. Client 2 has done the list before.',
          ],
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
        explanation:
          'After 10 ms: 5 ms for the delete to the server, and 5 ms for the notification to client 2. Nothing can be faster. With a list after the wake-up it would be 20 ms.',
        focus: { frame: { kind: 'notification', client: 2 } },
      },
    },
    {
      play: [],
      text: 'Nothing is free. Look at the counters: this release has notified more than one client, because a waiter also watches the one before its predecessor.',
      speaksOfCounters: true,
      focus: { client: 3 },
      question: {
        text: 'What has client 3 done with its notification?',
        choices: [
          'It has listed the queue, so that it is prepared for the release of client 2',
          [
            'It has tried to get the lock',
            'Client 2 holds the lock now, and client 3 knows that client 2 was between them.',
          ],
          [
            'Nothing: the notification was sent by mistake',
            'A server sends no notification without a watch. Client 3 has watched this node on purpose.',
          ],
        ],
        play: [],
        explanation:
          'It is next now, and prepares while client 2 works. The list is not gone: it has moved to a time at which nobody waits for it.',
        focus: { client: 3 },
      },
    },
  ],
}

export const tickets: Lesson = {
  id: 'tickets',
  title: 'Tickets instead of lists',
  summary: 'How a queue of numbers ends the last cost that grows with the waiters.',
  scenario: { recipe: 'ticket-mutex', clients: 12, servers: 1, seed: 24 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'In the chain, each new holder lists the queue, because the name of its predecessor contains a UUID: a random number that no other client knows. Here all share one UUID, which is written in `/lock`. Below it, the names are nothing but numbers. So a waiter knows the name of its predecessor without a list.',
      focus: { client: 2 },
      question: {
        text: 'Client 1 releases the lock. Client 2 is notified that the node of client 1 is gone. How does it know that it is first, without a list?',
        choices: [
          [
            'It does not know, and takes the risk',
            'Then two clients could hold the lock at the same time. Client 2 need not guess: think of what it could learn while it waited.',
          ],
          [
            'It asks each client with a lower number, before it goes on',
            'Clients do not talk to each other, only to the server.',
          ],
          'It has looked ahead: only client 1 was there',
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
        explanation:
          'Client 2 knew that only client 1 was ahead. In one transaction, client 1 has deleted its node and has written its number to the node above it. Client 3 has read that number: it is prepared for the next release.',
        focus: { frame: { kind: 'request', op: 'getData', client: 3 } },
      },
    },
    {
      play: [],
      text: 'No frame of this release contains a list of names. Look at the counters: a few hundred bytes.',
      speaksOfCounters: true,
      focus: { client: 2 },
      question: {
        text: 'A thousand clients wait. How many bytes does one release cost then?',
        choices: [
          [
            'About a hundred times as many',
            'The answers would have to grow with the number of clients. Look at what these contain: no answer names those that wait.',
          ],
          'As many',
          [
            'About ten thousand times as many',
            'This would be the herd: a list for each, and in each list the names of all. Here nobody lists.',
          ],
        ],
        play: [{ do: { kind: 'release', client: 2 } }, { settle: true }],
        explanation:
          'As many. The price: each release also writes to the node above, and clients of other libraries cannot join, because their names are not these numbers.',
        focus: { client: 3 },
      },
    },
  ],
}

export const readersHerd: Lesson = {
  id: 'herd-of-readers',
  title: 'The herd of readers',
  summary: 'Why a read/write lock wakes many on purpose, and what that still costs.',
  scenario: { recipe: 'read-write-lock', clients: 12, servers: 1, seed: 23 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'kill', client: 4 } },
        { do: { kind: 'kill', client: 7 } },
        { do: { kind: 'kill', client: 10 } },
        { wait: 13_000 },
        { settle: true },
      ],
      text: 'Client 1 writes. Eight clients wait to read. Three more writers stood between them, but their processes have died. A reader watches only the last writer ahead of it, because readers do not exclude each other.',
      focus: { client: 12 },
      question: {
        text: 'Client 1 releases. How many clients does the server notify?',
        choices: [
          [
            'One: the next in the queue',
            'The next one is a reader. There is no reason why the others must wait until it has read.',
          ],
          ['Two: the next, and the one behind it', 'No reader watches a reader. Look again at what a reader watches.'],
          'All eight readers',
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
        explanation:
          'All eight, and all eight may enter: no wake-up is for nothing. This herd is wanted. But each reader lists the queue to be sure that no writer is left ahead.',
        focus: { frame: { kind: 'notification' } },
      },
    },
    {
      play: [],
      text: 'Eight readers have read eight lists, and each list contains the names of all eight.',
      focus: { frame: { kind: 'answer', op: 'getChildren2' } },
      question: {
        text: 'Twice as many readers: how many bytes of lists are read then?',
        choices: [
          'About four times as many',
          ['About twice as many', 'That would be so if each list were as long as before. A list names all readers.'],
          [
            'As many: the nodes are the same',
            'The nodes are not the same: each reader has created one. And each reader lists them.',
          ],
        ],
        play: [],
        explanation:
          'Twice as many lists, each twice as long. What is wanted are the notifications, not the lists. If readers come in thousands, let them read without a lock, or let one process read for many.',
      },
    },
  ],
}

export const doubleBarrier: Lesson = {
  id: 'double-barrier',
  title: 'Begin together, end together',
  summary: 'How a double barrier lets clients begin together, and lets none go before all are done.',
  scenario: { recipe: 'double-barrier', clients: 3, servers: 1, seed: 25 },
  steps: [
    {
      play: [
        { until: { kind: 'answer', op: 'create2', client: 1 } },
        { until: { kind: 'answer', op: 'create2', client: 1 } },
      ],
      text: 'Three clients want to begin a calculation at the same time. Each creates a node of its own in `/lock`, and counts the nodes. It waits for one more node, `ready`, on which it sets a watch.',
      focus: { client: 1 },
      question: {
        text: 'Who creates `ready`?',
        choices: [
          [
            'The server, when it has counted three nodes',
            'A server counts nothing for its clients, and creates no nodes on its own. It only does what it is asked.',
          ],
          'A client that counts three nodes',
          [
            'Client 1, because it came first',
            'When client 1 came, it counted one node, and had to wait. It does not know when the others come.',
          ],
        ],
        play: [{ settle: true }],
        explanation:
          'A client that counts three nodes. Here more than one did, and only the first create succeeded. The server counts nothing: it only orders the writes, and notifies. All three are inside now.',
        focus: { frame: { kind: 'notification' } },
      },
    },
    {
      play: [],
      text: 'All three calculate: they are inside, which the stars mark. The calculation has several parts, and after each part the clients wait for each other. The nodes of the clients are ephemeral.',
      focus: { node: '/lock' },
      question: {
        text: 'Client 1 is done, and leaves. May it go on to the next part now?',
        choices: [
          'No: it waits until all have left',
          [
            'Yes: its own work is done',
            'Then it could begin a part while the others are still in the one before, and soon be two parts ahead. The clients want to end together too.',
          ],
        ],
        play: [{ do: { kind: 'release', client: 1 } }, { settle: true }],
        explanation:
          'It waits. It has deleted its node, has listed the others, and watches one of them. That is why the barrier is called double: the way out has one too.',
        focus: { client: 1 },
      },
    },
    {
      play: [{ do: { kind: 'release', client: 2 } }, { settle: true }],
      text: 'Client 2 has left too, and waits with client 1.',
      focus: { client: 2 },
      question: {
        text: 'The process of client 3 dies in the middle of its work. What happens to the other two?',
        choices: [
          ['They wait for ever', 'They would, if the node of client 3 stayed for ever. But its node is ephemeral.'],
          [
            'They go on at once, because the connection has ended',
            'The client could connect again with the same session. So the end of its connection alone removes no node.',
          ],
          'They go on when the session of client 3 has expired',
        ],
        play: [{ do: { kind: 'kill', client: 3 } }, { wait: 13_000 }, { settle: true }],
        explanation:
          'The server waits for the session timeout, here ten seconds, and then deletes the node. The others are notified, and are out. So they know that nobody works any more, but not that all work is done.',
        focus: { frame: { kind: 'notification' } },
      },
    },
  ],
}
