// The lesson about the server that has no vote.
import type { Lesson } from './lesson.ts'

export const observer: Lesson = {
  id: 'observer',
  title: 'An observer, a server without a vote',
  summary: 'How a server serves clients although no write waits for it, and no election asks it.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: '3 and an observer', seed: 6 },
  steps: [
    {
      play: [{ settle: true }],
      text: 'Servers 1, 2 and 3 vote, and server 3 leads. Server 4 is an observer: it has the same nodes and serves clients, but it has no vote. Client 1 is connected to it, and is about to create `/a`.',
      focus: { server: 4 },
      question: {
        text: 'Server 4 passes the write on to the leader. To which servers does the leader propose it?',
        choices: [
          [
            'To servers 1, 2 and 4',
            'A proposal asks for an `ack`, and the leader counts the acks of the servers that vote. It has no use for another one.',
          ],
          'To servers 1 and 2',
          [
            'To server 4, which has sent the write',
            'That server has no vote. If the leader asked it alone, no majority would ever have the write.',
          ],
        ],
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/a', data: 'one', mode: 'persistent' } } },
          { untilMessage: { kind: 'proposal' } },
          { wait: 2 },
        ],
        explanation:
          'The leader proposes the write to the servers that vote. Server 4 has passed the write on, as a follower would, and waits until it counts.',
        focus: { message: { kind: 'proposal' } },
      },
    },
    {
      play: [],
      text: 'The leader has written the proposal to its own log. Servers 1 and 2 will write it to theirs, and each will send an `ack`. With the observer, there are four servers.',
      focus: { message: { kind: 'proposal' } },
      question: {
        text: 'How many of them must have the write in their logs, so that it counts?',
        choices: [
          [
            'Three, which is more than half of four',
            'A server without a vote is not counted, so four is the wrong number. Think of more than half of those that vote.',
          ],
          [
            'Three: all that vote',
            'Then any of them that is down would stop all writes. The servers want to go on without it.',
          ],
          'Two of those that vote',
        ],
        play: [{ untilMessage: { kind: 'inform' } }, { wait: 2 }],
        explanation:
          'A majority of three is two, with an observer or without. The followers have the proposal, so a commit is enough for them. Server 4 has none: `inform` brings it the whole write.',
        focus: { message: { kind: 'inform' } },
      },
    },
    {
      play: [{ settle: true }, { do: { kind: 'cut off', server: 1 } }, { do: { kind: 'cut off', server: 2 } }],
      text: 'Server 4 has applied the write, and client 1 has its answer. Now we cut servers 1 and 2 off. The leader and the observer still reach each other. Client 1 will create `/b`.',
      focus: { server: 4 },
      question: {
        text: 'Does client 1 get its answer?',
        choices: [
          'No: the leader is only one of three',
          [
            'Yes: the leader and server 4 are two',
            'Server 4 gets a write when it counts already, and sends no `ack`. It cannot help to make it count.',
          ],
        ],
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/b', data: 'two', mode: 'persistent' } } },
          { wait: 1500 },
        ],
        explanation:
          'Client 1 waits. The write has reached the leader, and is in no other log. Observers are there for reads: each answers those of its own clients. However many there are, a write waits for as few servers as before.',
        focus: { client: 1 },
      },
    },
    {
      play: [{ do: { kind: 'heal', server: 1 } }, { do: { kind: 'heal', server: 2 } }, { settle: true }],
      text: 'We have healed both cuts, and client 1 has its answer. The logs of all four servers end with the same zxid. Between equal logs, the greater server number wins an election. Now the leader crashes.',
      focus: { server: 3 },
      question: {
        text: 'Which server leads next?',
        choices: [
          [
            'Server 4: of those that are left, it has the greatest number',
            'The numbers of those are compared that can be voted for. Server 4 has no vote, and gets none.',
          ],
          'Server 2',
          ['Server 1', 'It can win, and its log is as long as any. But its number is the smallest.'],
        ],
        play: [{ do: { kind: 'restart server', server: 3 } }, { settle: true }],
        explanation:
          'Servers 1 and 2 have voted, and the greater number has won. Server 4 has only asked them which server leads, and follows that one. Server 3 has started again, as a follower.',
        focus: { message: { kind: 'vote', from: 4 } },
      },
    },
  ],
}
