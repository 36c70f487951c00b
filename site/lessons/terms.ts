// The words of the field in the texts of lessons, which a reader can look up where they occur first. They have the
// meanings that docs/glossary.md gives them.
import type { Lesson } from './lesson.ts'

export interface Term {
  /** As in the glossary, where several words can have one row. */
  readonly words: string
  readonly meaning: string
}

export const TERMS: readonly Term[] = [
  { words: 'ack', meaning: 'a follower’s answer to a proposal: it has written it to its log' },
  {
    words: 'commit',
    meaning: 'the message with which the leader says that a proposal counts, because a majority has it',
  },
  {
    words: 'diff, snap, trunc',
    meaning:
      'what a leader sends to a server that comes back: the writes that it lacks, the whole tree, or the end of its log that it must remove',
  },
  { words: 'ephemeral', meaning: 'said of a node that the server deletes when the session that created it ends' },
  { words: 'epoch', meaning: 'the number of a leader’s term: the upper 32 bits of a zxid' },
  {
    words: 'expire',
    meaning: 'said of a session: the servers have received nothing of its client for the session timeout, and end it',
  },
  {
    words: 'fencing token',
    meaning:
      'a number that is larger for each holder of a lock. A store that knows the largest one refuses late writes',
  },
  {
    words: 'follower, leader, observer',
    meaning: 'the kinds of servers. The leader orders all writes. Followers vote for them, observers do not',
  },
  { words: 'frame', meaning: 'a request, an answer or a notification as it is sent: its length, and then its bytes' },
  { words: 'garbage collection', meaning: 'a pause in which a program frees memory, and does nothing else' },
  {
    words: 'inform',
    meaning:
      'the message with which the leader sends an observer a write that counts: the observer has had no proposal',
  },
  {
    words: 'lease',
    meaning:
      'the time for which the servers certainly keep a session: its client may rely on its ephemeral nodes so long',
  },
  {
    words: 'linearizable, legal',
    meaning:
      'said of a history of calls and results: a single copy that executes one operation after another could have given each result',
  },
  { words: 'log', meaning: 'the list of all writes of a server, in their order, which a crash does not lose' },
  { words: 'multi', meaning: 'a request of several operations: the server executes all of them, or none' },
  {
    words: 'notification',
    meaning: 'a frame with which the server tells a client that a node has changed on which it has set a watch',
  },
  { words: 'opcode', meaning: 'the number of an operation, such as create, in a request' },
  { words: 'ping', meaning: 'a frame that says only that its sender lives. The answer says the same of the server' },
  { words: 'proposal', meaning: 'the message with which the leader sends a write to the followers, before it counts' },
  { words: 'quorum, majority', meaning: 'more than half of the servers that vote. Without it, nothing is written' },
  {
    words: 'session',
    meaning:
      'what the server keeps of a client: its ephemeral nodes, its watches and its timeout. It survives lost connections',
  },
  { words: 'session timeout', meaning: 'how long the servers keep a session whose client sends nothing' },
  { words: 'setWatches', meaning: 'a request that sets all watches of a client again, on its next connection' },
  { words: 'sync', meaning: 'a request with which the server of a client catches up with the leader' },
  { words: 'tick', meaning: 'the unit of time of the servers, `tickTime`: 2 s in the sample configuration' },
  {
    words: 'transaction',
    meaning: 'a write, or several that the server executes together or not at all. It has one zxid',
  },
  { words: 'trip', meaning: 'the way of a request to the server, and of its answer back' },
  {
    words: 'upToDate',
    meaning: 'the message with which the leader lets a follower serve clients, after it has caught up',
  },
  { words: 'UUID', meaning: 'a random number of 128 bits, which nobody else chooses' },
  {
    words: 'vote',
    meaning: 'a message with which a server says whom it wants as leader, and where the log of that server ends',
  },
  { words: 'watch', meaning: 'a request to be told of the next change, or with `addWatch` of each change' },
  { words: 'xid', meaning: 'the number of a request on a connection' },
  { words: 'znode, node', meaning: 'an entry of the tree, with data, children, an ACL and a Stat' },
  { words: 'zxid', meaning: 'the number of a transaction. Each write of any client gets the next one' },
]

const termOf = new Map(TERMS.flatMap(term => term.words.split(', ').map(word => [word.toLowerCase(), term] as const)))

/** The longest words first: `session timeout` is no `session`. */
const WORDS = [...termOf.keys()].toSorted((a, b) => b.length - a.length).join('|')
const OCCURRENCE = new RegExp(`(?<![\\p{L}\\d-])(${WORDS})(?:s|es)?(?![\\p{L}\\d-])`, 'giu')

/** A part of a text. */
export interface Piece {
  readonly text: string
  readonly isCode: boolean
  /** The term, where it occurs for the first time. */
  readonly term: Term | undefined
}

/**
 * Cuts a text into code, terms and the rest.
 * @param seen the terms that have occurred already. Those of the text are added. Default: no term is sought
 */
export const piecesOf = (text: string, seen?: Set<Term>): Piece[] =>
  text.split('`').flatMap((part, i): Piece[] => {
    const isCode = i % 2 === 1
    if (seen === undefined) return [{ text: part, isCode, term: undefined }]
    if (isCode) return [{ text: part, isCode, term: firstOf(part.toLowerCase(), seen) }]
    return wordsOf(part, seen)
  })

function wordsOf(text: string, seen: Set<Term>): Piece[] {
  const pieces: Piece[] = []
  let after = 0
  for (const { 0: found, 1: word = '', index } of text.matchAll(OCCURRENCE)) {
    const term = firstOf(word.toLowerCase(), seen)
    if (term === undefined) continue
    pieces.push(
      { text: text.slice(after, index), isCode: false, term: undefined },
      { text: found, isCode: false, term },
    )
    after = index + found.length
  }
  return [...pieces, { text: text.slice(after), isCode: false, term: undefined }]
}

function firstOf(word: string, seen: Set<Term>): Term | undefined {
  const term = termOf.get(word)
  if (term === undefined || seen.has(term)) return undefined
  seen.add(term)
  return term
}

/** Returns the terms that occur in a lesson before a step. @param step from 1. Default: in the whole lesson */
export function termsBefore(lesson: Lesson, step = lesson.steps.length + 1): Set<Term> {
  const seen = new Set<Term>()
  for (const { text, question } of lesson.steps.slice(0, step - 1))
    for (const part of [text, question?.text, question?.explanation]) piecesOf(part ?? '', seen)
  return seen
}
