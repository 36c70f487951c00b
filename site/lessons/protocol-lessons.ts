// Lessons about sessions, requests and watches.
import type { Lesson } from './lesson.ts'

export const handshake: Lesson = {
  id: 'handshake-and-ping',
  title: 'Handshake and ping',
  summary: 'How a session begins, and how it stays alive while nobody says anything.',
  scenario: { recipe: 'bare-clients', clients: 1, servers: 1, seed: 1 },
  steps: [
    {
      play: [],
      text: 'ZooKeeper is a few servers that keep a small tree of nodes for many programs, so that these programs can agree on something. Here are one server and one program: its client. They send each other frames, as messages are called, and have sent none yet. The line takes 5 ms in each direction.',
    },
    {
      play: [{ until: { kind: 'connect', direction: 'up' } }],
      text: 'The line is open. The first frame of each connection is a connect request. Later requests have a number, the xid, and that of their operation, the opcode. This one has neither, because the server expects it.',
      focus: { frame: { kind: 'connect' } },
      question: {
        text: 'A session has a 64-bit id. Which id does this connect request contain?',
        choices: [
          [
            'None: the request has no such field',
            'A connect request always has this field, because a client that connects again must say which session is its own.',
          ],
          [
            'A random one, which the client has chosen',
            'Two clients could then choose the same id. Only a server gives ids, so that no two sessions have the same one.',
          ],
          'The id 0',
        ],
        play: [{ until: { kind: 'connect', direction: 'down' } }],
        explanation:
          'The id 0 asks for a new session. The server chooses the id, and sends it with a password: with both, the client can keep its session on another connection. The server also decides the session timeout.',
        focus: { frame: { kind: 'connect', direction: 'down' } },
      },
    },
    {
      play: [{ settle: true }],
      text: 'The session is connected. The client has requested a session timeout of 10 seconds, and the server has agreed. Now the program has nothing to do.',
      focus: { client: 1 },
      question: {
        text: 'Nobody makes a call. What happens during the next 10 seconds?',
        choices: [
          'The client sends a ping before they are over',
          [
            'The server expires the session when they are over',
            'Then no idle program could keep a session. A client that lives must say so in time, even if it has nothing to ask.',
          ],
          [
            'The server asks the client whether it is alive',
            'It would then have to ask each client all the time. The server only waits, and notes when it last heard of a client.',
          ],
        ],
        play: [{ until: { kind: 'ping', direction: 'up' } }],
        explanation:
          'The client sends a ping when it has sent nothing for 3 seconds, less than a third of the session timeout. So two pings can go unanswered before the session is in danger. The server never asks.',
        focus: { frame: { kind: 'ping' } },
      },
    },
    {
      play: [{ until: { kind: 'ping', direction: 'down' } }, { settle: true }],
      text: 'The answer renews the lease: for 10 seconds, counted from the moment at which the ping was sent. The client must count from there, because the server may have heard the ping at that moment, and not later.',
      focus: { client: 1 },
      question: {
        text: 'The process of the client stops for 12 seconds, as in a long garbage collection. What does the server do?',
        choices: [
          [
            'It waits: the connection is still open',
            'A connection stays open even if the process behind it does nothing. So the server does not look at the connection.',
          ],
          'It expires the session, and closes the connection',
        ],
        play: [{ do: { kind: 'stop', client: 1, seconds: 12 } }, { wait: 15_000 }],
        explanation:
          'An open connection proves nothing. The server has heard nothing for the session timeout, so the session is over. A client that wakes up must find that out before it does anything else.',
        focus: { client: 1 },
      },
    },
  ],
}

export const order: Lesson = {
  id: 'order-of-answers',
  title: 'Requests and answers',
  summary: 'How a client knows which answer belongs to which request.',
  scenario: { recipe: 'bare-clients', clients: 1, servers: 1, seed: 2 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'call', client: 1, call: { op: 'create', path: '/a', data: 'one', mode: 'persistent' } } },
        { do: { kind: 'call', client: 1, call: { op: 'get', path: '/missing', watch: false } } },
        { do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: false } } },
        { until: { kind: 'request', op: 'getData' } },
        // The requests have left the client, so that each can be seen.
        { wait: 2 },
      ],
      text: 'The client has made three calls, one after the other: it creates `/a`, reads `/missing`, and reads `/a`. It has waited for no answer in between: all three requests are on their way.',
      focus: { client: 1 },
      question: {
        text: 'How will the client know which answer belongs to which request?',
        choices: [
          [
            'Each answer repeats the path of its request, which no other request has',
            'An answer contains no path. And two requests can have the same path, as those of `/a` here.',
          ],
          [
            'Each answer has the opcode of its request, and the path',
            'An answer contains neither. And two reads of the same node would have the same opcode and path.',
          ],
          'Each answer has the number of its request',
        ],
        play: [{ settle: true }],
        explanation:
          'An answer contains the number of the request, the xid, and neither its opcode nor its path. The server also answers in the order of the requests, so the client only compares: an answer with another xid than the oldest request has means that the connection is broken.',
        focus: { frame: { kind: 'answer' } },
      },
    },
    {
      play: [],
      text: 'The second request has failed, because `/missing` does not exist. An error is an answer like any other: it has a header with an error number, and no body.',
      focus: { client: 1 },
      question: {
        text: 'The third request was sent before the answer to the first. Which data has it read?',
        choices: [
          '`one`, because the server executes the requests of a client in order',
          [
            'None: `/a` did not exist when it was sent',
            'What counts is when the server executes the request, not when the client sends it.',
          ],
        ],
        play: [],
        explanation:
          'The server executes the requests of a session in the order in which they were sent. So a client need not wait for a write before it reads what it has written. A lock, which lets one client work at a time, uses this: it creates a node and lists all nodes of the lock at once. It waits for one trip to the server and back.',
        focus: { node: '/a' },
      },
    },
  ],
}

export const oneShotWatch: Lesson = {
  id: 'one-shot-watch',
  title: 'A watch misses a change',
  summary: 'Why a client reads again after each notification.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 1, seed: 3 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'call', client: 2, call: { op: 'create', path: '/a', data: 'one', mode: 'persistent' } } },
        { settle: true },
        { do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: true } } },
        { settle: true },
      ],
      text: 'Client 1 has read `/a` and has set a watch: it wants to be told of the next change. The server keeps it in its table of watches. Client 2 will write twice, one write right after the other.',
      focus: { node: '/a' },
      question: {
        text: 'How many notifications will client 1 get?',
        choices: [
          'One',
          ['One with both new values', 'A notification contains no values. It only says that the node has changed.'],
          [
            'Two',
            'The client has asked to be told of the next change, and there are two. Think of what becomes of the watch after the first.',
          ],
        ],
        play: [
          { do: { kind: 'call', client: 2, call: { op: 'set', path: '/a', data: 'two' } } },
          { do: { kind: 'call', client: 2, call: { op: 'set', path: '/a', data: 'three' } } },
          { settle: true },
        ],
        explanation:
          'One. The first write fires the watch, and firing removes it. The second write finds no watch. The notification says that the data have changed, but contains no data.',
        focus: { frame: { kind: 'notification' } },
      },
    },
    {
      play: [],
      text: 'The value `two` is gone, and client 1 has never seen it. A watch is no stream of changes: it only says that what was read is old now.',
      focus: { client: 1 },
      question: {
        text: 'Client 1 reads again, and sets a watch with the same request. What does it know then?',
        choices: [
          'The value `three`, and it will be notified of the next change',
          [
            'The value `two`, and it will be notified of `three`',
            'The server keeps only the newest data of a node. The second write came before this read.',
          ],
        ],
        play: [{ do: { kind: 'call', client: 1, call: { op: 'get', path: '/a', watch: true } } }, { settle: true }],
        explanation:
          'The read returns the newest value, and sets the watch in the same moment: no change can come between them. A client that always reads and watches with one request may miss values, but never misses the last one.',
        focus: { frame: { kind: 'answer', client: 1 } },
      },
    },
  ],
}
