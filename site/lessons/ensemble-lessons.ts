// Lessons about servers that agree.
import type { Action, Lesson } from './lesson.ts'

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
          [
            'It refuses the write: only the leader takes writes',
            'A client would have to know the leader, and look for it after each election. It may send its write to any server.',
          ],
          [
            'It creates the node, and tells the other servers',
            'Another server could create the same node at this moment. Then the two would disagree on who was first.',
          ],
          'It passes the write on to the leader',
        ],
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
      text: 'The leader has given the write a number, the zxid. Its upper half is the epoch of this leader, its lower half the next number. It has written it to its own log, and proposes it to both followers.',
      focus: { message: { kind: 'proposal', to: 1 } },
      question: {
        text: 'When does the write count?',
        choices: [
          [
            'Now: the leader has it in its log',
            'If the leader crashed now, nobody else would know of the write. A client must not be told yet that it counts.',
          ],
          'When one follower has it in its log too: two of three',
          [
            'When both followers have it in their logs',
            'Then one server that is down would stop all writes. The servers want to go on without it.',
          ],
        ],
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
        choices: [
          'Yes: the leader and server 1 are enough',
          [
            'No: the leader waits until server 2 has the write too',
            'Then one server that is cut off would stop all writes. Count the servers that still reach each other.',
          ],
        ],
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/b', data: 'two', mode: 'persistent' } } },
          { settle: true },
        ],
        explanation:
          'Client 1 has its answer, as fast as before. The leader had one `ack`, from server 1. Server 2 still shows the old tree, and its zxid is smaller.',
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
          [
            'Its answer: the leader has the write in its log',
            'The leader is one of three. If the other two reach each other again, they elect a leader that knows nothing of this write.',
          ],
          [
            'An error at once: the leader is alone',
            'The leader does not know yet that it is alone: it has only heard nothing for a moment.',
          ],
          'Nothing for now: the write waits for a second server',
        ],
        play: [
          { do: { kind: 'call', client: 2, call: { op: 'create', path: '/c', data: 'three', mode: 'persistent' } } },
          { wait: 1500 },
        ],
        explanation:
          'The write waits. The leader has it in its log, and nobody else has. One of three is no majority, so the leader must not say that the write counts. If the other two reach each other again, they elect a leader without it.',
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
          [
            'It is lost, so client 2 must send it again',
            'The leader still has it in its log, and has proposed it to both. What was sent on the cut line waits there.',
          ],
          'Server 1 gets the proposal now',
          ['It waits until server 2 is back too', 'All three are never needed: two of three are enough.'],
        ],
        play: [{ do: { kind: 'heal', server: 1 } }, { settle: true }],
        explanation:
          'The proposal has waited on the cut line, as in TCP, and arrives. The `ack` of server 1 makes two of three, and client 2 gets its answer.',
        focus: { message: { kind: 'ack', from: 1 } },
      },
    },
  ],
}

export const election: Lesson = {
  id: 'election',
  title: 'An election, and why the longest log wins',
  summary:
    'Which server leads next, what happens to a write that only the old leader had, and how a server catches up.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 3, seed: 5 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'cut off', server: 3 } },
        { do: { kind: 'call', client: 2, call: { op: 'create', path: '/lost', data: '', mode: 'persistent' } } },
        { wait: 1000 },
      ],
      text: 'Server 3 leads. We have cut it off from the others. Client 2, which is connected to it, has asked it to create `/lost`. The write is in the log of server 3, and in no other.',
      focus: { server: 3 },
      question: {
        text: 'What do servers 1 and 2 do, which hear nothing from their leader?',
        choices: [
          [
            'They wait for it, because without it there can be no writes',
            'Two of three are a majority, and can go on without the third. Otherwise the loss of one server would stop all.',
          ],
          [
            'They elect a leader at once',
            'A leader that is silent for a moment may only be slow. An election at each pause would stop all clients each time.',
          ],
          'They elect a leader after some seconds',
        ],
        play: [{ untilMessage: { kind: 'vote', from: 1, to: 2 } }, { wait: 2 }],
        explanation:
          'They wait for five ticks, here five seconds. Then each looks for a leader, and sends the others a vote for itself: its own number, and the last zxid in its log.',
        focus: { message: { kind: 'vote', from: 1, to: 2 } },
      },
    },
    {
      play: [],
      text: 'The logs of servers 1 and 2 end with the same zxid. Each has sent the other a vote for itself. A server changes its vote when it hears of a better one. A greater zxid is better, because that log is longer. If the zxids are equal, the greater server number is better.',
      focus: { message: { kind: 'vote', from: 2, to: 1 } },
      question: {
        text: 'Which of them will lead?',
        choices: [
          [
            'Server 1, which has the smaller number',
            'The rule says which number is better, if the zxids are equal. Read it once more.',
          ],
          'Server 2, which has the greater number',
          [
            'The one whose vote was sent first',
            'Messages can overtake each other, so the servers could disagree on which vote was the first. The rule does not look at time.',
          ],
        ],
        play: [{ untilMessage: { kind: 'vote', from: 1, to: 2 } }, { wait: 2 }],
        explanation:
          'The logs are equal, so the greater number wins. Server 1 learns of the better vote, and changes its own. Both now vote for server 2. They wait 200 ms, in case a better vote is on its way.',
        focus: { message: { kind: 'vote', from: 1, to: 2 } },
      },
    },
    {
      play: [{ untilMessage: { kind: 'upToDate' } }, { settle: true }, { wait: 1000 }],
      text: 'Server 1 has told the new leader which epochs it knows. The leader has chosen a greater one, and server 1 has accepted it: from now on it follows no leader of an older epoch. It has the same log as the leader, so both serve clients.',
      focus: { message: { kind: 'leaderInfo' } },
      question: {
        text: 'Server 3 has been alone for more than five seconds too. What does it do?',
        choices: [
          [
            'It still leads its own clients',
            'Then there would be two leaders with clients at the same time, and two orders of writes.',
          ],
          'It has stopped leading, and serves no client',
        ],
        play: [
          { do: { kind: 'call', client: 1, call: { op: 'create', path: '/kept', data: '', mode: 'persistent' } } },
          { settle: true },
        ],
        explanation:
          'A leader that has heard from no majority for five ticks stops. Client 2 has lost its connection, has found server 2, and cannot know whether `/lost` was created. Meanwhile client 1 has created `/kept` through the new leader, and its zxid begins with the new epoch.',
        focus: { server: 3 },
      },
    },
    {
      play: [],
      text: 'The log of server 3 ends with `/lost`, which no other server has. The logs of the others end with `/kept`. Now we heal the cut.',
      focus: { server: 3 },
      question: {
        text: 'What becomes of `/lost`?',
        choices: [
          'Server 3 removes it from its log',
          [
            'Server 3 sends it to the others, so that nothing is lost',
            'The others have elected a leader since, and have written something else in its place. Their order is the one that counts.',
          ],
          [
            'It stays on server 3 only',
            'Then servers would differ for ever, and a read of `/lost` would depend on the server that is asked.',
          ],
        ],
        play: [{ do: { kind: 'heal', server: 3 } }, { untilMessage: { kind: 'trunc' } }, { wait: 2 }],
        explanation:
          'No majority had it, so no client was told that it counts. The leader sends `trunc`, and server 3 removes it. Then `diff` brings what server 3 lacks: `/kept`. Only after that it serves clients again.',
        focus: { message: { kind: 'trunc' } },
      },
    },
    {
      play: [
        { settle: true },
        { do: { kind: 'cut off', server: 3 } },
        { do: { kind: 'call', client: 1, call: { op: 'create', path: '/b', data: '', mode: 'persistent' } } },
        { settle: true },
      ],
      text: 'We have cut server 3 off once more, as a follower. Client 1 has created `/b`: the leader, server 2, and server 1 have it in their logs, and server 3 has not. Now the leader crashes, and we heal the cut at the same moment.',
      focus: { server: 2 },
      question: {
        text: 'Servers 1 and 3 elect a leader. Which one wins?',
        choices: [
          [
            'Server 3, which has the greater number',
            'The number decides only if the logs end with the same zxid. Look at which log has `/b`.',
          ],
          ['Neither: they must wait for server 2', 'Two of three are a majority. They wait for nobody.'],
          'Server 1, which has the longer log',
        ],
        play: [
          { do: { kind: 'restart server', server: 2 } },
          { do: { kind: 'heal', server: 3 } },
          { untilMessage: { kind: 'vote', from: 3, to: 1 } },
          { wait: 2 },
        ],
        explanation:
          'Server 3 changes its vote to server 1, whose log is longer. A client was told that `/b` counts, because a majority had it. Any two majorities share a server. So among those that vote, one has `/b`, and the longest log has it too.',
        focus: { message: { kind: 'vote', from: 3, to: 1 } },
      },
    },
    {
      play: [{ untilMessage: { kind: 'diff' } }, { wait: 2 }],
      text: 'Server 1 has won, and is to lead in a third epoch. Server 3 has told it where its log ends, and gets what it lacks: `/b`.',
      focus: { message: { kind: 'diff' } },
      question: {
        text: 'When may the new leader serve clients?',
        choices: [
          [
            'At once: it has the longest log, so it lacks nothing',
            'It lacks nothing. But it is still the only one that has `/b` in its log, apart from the server that is away.',
          ],
          'When server 3 has acknowledged its log',
          [
            'When server 2, the old leader, is back',
            'Then the loss of one server would stop all. Two of three are enough here too.',
          ],
        ],
        play: [{ untilMessage: { kind: 'upToDate' } }, { settle: true }],
        explanation:
          'It waits for the ack of server 3. Now a majority has `/b` again, and `upToDate` lets server 3 apply its log and serve clients. Server 2 has started again meanwhile, has found the leader, and follows it.',
        focus: { message: { kind: 'ack', from: 3 } },
      },
    },
  ],
}

/** More writes than the servers of a lesson keep for followers that lag. */
const manyWrites: readonly Action[] = Array.from({ length: 22 }, (_, i) => ({
  do: { kind: 'call', client: 2, call: { op: 'set', path: '/a', data: `write ${i + 1}` } },
}))

export const catchUp: Lesson = {
  id: 'catching-up',
  title: 'A follower that comes back late',
  summary: 'What the leader sends to a server that lacks a few writes, and to one that lacks many.',
  scenario: { recipe: 'bare-clients', clients: 2, servers: 3, seed: 29 },
  steps: [
    {
      play: [
        { settle: true },
        { do: { kind: 'cut off', server: 1 } },
        { do: { kind: 'call', client: 2, call: { op: 'create', path: '/a', data: 'one', mode: 'persistent' } } },
        { wait: 7000 },
      ],
      text: 'Server 1, a follower, has been cut off from the others for seven seconds. It has given its leader up, and serves no client. Meanwhile client 2 has created `/a`. Now we heal the cut.',
      focus: { server: 1 },
      question: {
        text: 'How does server 1 get `/a`?',
        choices: [
          [
            'Client 2 sends the write once more, to server 1',
            'A client sends a write once, and has had its answer. It need not know which servers have it.',
          ],
          'The leader sends the one write that server 1 lacks',
          [
            'The leader sends all its nodes',
            'It could, but that would be a lot for one missing write. The leader remembers its last writes.',
          ],
        ],
        play: [{ do: { kind: 'heal', server: 1 } }, { untilMessage: { kind: 'diff' } }, { wait: 2 }],
        explanation:
          'Server 1 has told the leader the zxid with which its log ends. The leader has kept its own last writes. It sends a `diff`: those that came after that zxid.',
        focus: { message: { kind: 'diff' } },
      },
    },
    {
      play: [{ settle: true }, { do: { kind: 'cut off', server: 1 } }, { wait: 7000 }, ...manyWrites, { settle: true }],
      text: 'The same once more, but this time client 2 has written to `/a` 22 times. A leader cannot keep every write for ever. Here it keeps ten to twenty of them. ZooKeeper keeps 500, unless you configure another number. We heal the cut again.',
      focus: { server: 1 },
      question: {
        text: 'What does server 1 get now?',
        choices: [
          [
            'Nothing: it lacks too much, and stays out',
            'A server is never left out for what it lacks. There is something that makes up for any outage.',
          ],
          [
            'The last ten writes, because they are the newest ones',
            'Each write builds on those before. Those in between may have changed other nodes, and server 1 would never hear of that.',
          ],
          'All nodes and all sessions',
        ],
        play: [{ do: { kind: 'heal', server: 1 } }, { untilMessage: { kind: 'snap' } }, { wait: 2 }],
        explanation:
          'The leader does not have all the writes any more that server 1 lacks. So it sends a snapshot, `snap`: its whole tree and its sessions. Server 1 discards what it had.',
        focus: { message: { kind: 'snap' } },
      },
    },
    {
      play: [{ settle: true }],
      text: 'Server 1 has the newest data, and follows the leader again. A snapshot is right after any outage, and simpler than a `diff`.',
      focus: { server: 1 },
      question: {
        text: 'Why does the leader not always send a snapshot?',
        choices: [
          'It is as large as the whole tree, which can be gigabytes',
          [
            'It could contain writes that no majority has',
            'What a majority does not have is in no tree yet: the leader applies a write when it counts.',
          ],
          [
            'Server 1 could not tell which leader had sent it',
            'A follower gets it on its connection to the leader, which has an epoch. So it knows who sends it.',
          ],
        ],
        play: [],
        explanation:
          'A `diff` grows with the length of the outage, and a snapshot with the tree. After a short restart, a few kilobytes are enough. A large tree takes minutes, and the follower serves no client meanwhile.',
        focus: { message: { kind: 'snap' } },
      },
    },
  ],
}
