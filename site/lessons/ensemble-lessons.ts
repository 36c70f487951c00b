// Lessons about servers that agree.
import type { Lesson } from './lesson.ts'

export const quorum: Lesson = {
  id: 'quorum',
  title: 'A write’s way through a quorum',
  summary: 'Which messages three servers exchange for one write, and why it waits for two of them.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 3, seed: 5 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Three servers. Server 3 leads, the others follow. Client 1 is connected to server 1, a follower, and client 2 to the leader. Client 1 is about to create `/a`.',
      focus: { server: 1 },
      question: {
        text: 'What does server 1 do with this write?',
        choices: [
          'It creates the node, and tells the other servers',
          'It passes the write on to the leader',
          'It refuses the write: only the leader takes writes',
        ],
        answer: 1,
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/a', data: 'one', mode: 'persistent' } } },
          { untilMessage: { kind: 'request', from: 1, to: 3 } },
          { wait: 2 },
        ],
        explanation:
          'It passes the write on. One server puts all writes into one order, so that no two servers can differ in it.',
        focus: { message: { kind: 'request' } },
      },
    },
    {
      play: [{ untilMessage: { kind: 'proposal' } }, { wait: 2 }],
      text: 'The leader has given the write a zxid: in its upper half the epoch of this leader, in its lower half the next number. It has written it to its own log, and proposes it to both followers.',
      focus: { message: { kind: 'proposal', to: 1 } },
      question: {
        text: 'When does the write count?',
        choices: [
          'Now: the leader has it in its log',
          'When one follower has it in its log too: two of three',
          'When both followers have it in their logs: all three',
        ],
        answer: 1,
        play: [{ untilMessage: { kind: 'commit' } }, { wait: 2 }],
        explanation:
          'A majority is enough: the leader and one `ack`. Any two majorities of three share a server, so each later leader can learn of this write from one of its voters. Now the leader sends the commit.',
        focus: { message: { kind: 'ack' } },
      },
    },
    {
      play: [{ settle: true }, { do: { kind: 'cut off', server: 2 } }],
      text: 'All servers have applied the write, and client 1 has its answer. Now we cut server 2 off from the others. Client 1 will create `/b`.',
      focus: { server: 2 },
      question: {
        text: 'Does client 1 get its answer?',
        choices: ['Yes: the leader and server 1 are two of three', 'No: the leader waits for server 2'],
        answer: 0,
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/b', data: 'two', mode: 'persistent' } } },
          { settle: true },
        ],
        explanation:
          'Yes, and as fast as before. The leader had one `ack`, from server 1. Server 2 still shows the old tree, and its zxid is smaller.',
        focus: { server: 2 },
      },
    },
    {
      play: [{ do: { kind: 'cut off', server: 1 } }],
      text: 'We cut server 1 off too. The leader is alone, and does not know it yet. Client 2, which is connected to it, will create `/c`.',
      focus: { server: 3 },
      question: {
        text: 'What does client 2 get?',
        choices: [
          'Its answer: the leader has the write in its log',
          'An error at once',
          'Nothing for now: the write waits for a second server',
        ],
        answer: 2,
        play: [
          { do: { kind: 'call', client: 2, call: { op: 'create', path: '/c', data: 'three', mode: 'persistent' } } },
          { wait: 1500 },
        ],
        explanation:
          'The write waits. The leader has it in its log, and nobody else has. One of three is no majority, so the leader must not say that the write counts: the other two could elect another leader without it.',
        focus: { client: 2 },
      },
    },
    {
      play: [],
      text: 'The request of client 2 has had no answer for more than a second. Now we heal the cut of server 1. Server 2 stays cut off.',
      focus: { client: 2 },
      question: {
        text: 'What happens to the write?',
        choices: [
          'It is lost: client 2 must send it again',
          'Server 1 gets the proposal, and its ack makes the majority',
          'It waits until server 2 is back too',
        ],
        answer: 1,
        play: [{ do: { kind: 'heal', server: 1 } }, { settle: true }],
        explanation:
          'The proposal has waited on the cut line, as in TCP, and arrives. The `ack` of server 1 makes two of three, and client 2 gets its answer.',
        focus: { message: { kind: 'ack', from: 1 } },
      },
    },
  ],
}
