// The nodes of an export, line by line.
import { ZooKeeperError } from '../../protocol/index.ts'
import { UsageError } from '../runner/failure.ts'
import { readable } from '../runner/input.ts'
import { uselessIn } from './acl-text.ts'
import { escaped } from '../runner/text.ts'
import { parseLine, type ExportEnd } from './exported-node.ts'
import { moved, type PlacedNode } from './import-batches.ts'

/** The longest line, in characters: servers accept no node of that size. */
const LONGEST_LINE = 64 * 1024 * 1024

/**
 * Splits at line feeds only: node:readline also splits at U+2028, which JSON may contain.
 * @throws UsageError if the input is compressed or not UTF-8, or has a line that is too long
 */
async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new UsageError('the input is not UTF-8: zkwire export writes bytes that are no text as hex')
    }
  }
  let rest = ''
  for await (const chunk of readable(stream)) {
    const [first = '', ...others] = decoded(chunk).split('\n')
    rest += first
    for (const other of others) {
      yield rest
      rest = other
    }
    if (rest.length > LONGEST_LINE) throw new UsageError('the input has a line that is too long for a node')
  }
  yield rest + decoded()
}

/** The nodes that `zkwire export` wrote. They can be read once. */
export class ImportedNodes implements AsyncIterable<PlacedNode> {
  readonly #input: NodeJS.ReadableStream
  readonly #to: string | undefined
  readonly #refusesUseless: boolean
  #unreadable: readonly string[] = []
  #partProblem: string | undefined

  /**
   * @param to the node that the first one becomes. Default: its own path
   * @param refusesUseless true if an ACL with an entry that grants nothing is an error
   */
  constructor(input: NodeJS.ReadableStream, to?: string, refusesUseless = false) {
    this.#input = input
    this.#to = to
    this.#refusesUseless = refusesUseless
  }

  /** The nodes that the export lacks because it could not read them. Known after the last node was read. */
  get unreadable(): readonly string[] {
    return this.#unreadable
  }

  /** Says why the input may be only a part of an export. Undefined if it is whole. Known after the last node was read. */
  get partProblem(): string | undefined {
    return this.#partProblem
  }

  /**
   * Yields the nodes with the paths that they get.
   * @throws UsageError that names the line, if it is malformed or not below the node of the first line
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<PlacedNode, void, undefined> {
    let line = 0
    let nodes = 0
    let root: string | undefined
    let end: ExportEnd | undefined
    const place = (path: string): string => {
      root ??= path
      const placed = moved(path, root, this.#to ?? root)
      if (placed === undefined)
        throw new Error(`${escaped(path)} is not below the node of the first line, ${escaped(root)}`)
      return placed
    }
    for await (const text of linesOf(this.#input)) {
      line++
      if (text.trim() === '') continue
      try {
        const parsed = parseLine(text)
        // An end in the middle, as of two exports one after the other, is none.
        end = 'nodes' in parsed ? parsed : undefined
        if ('nodes' in parsed) this.#unreadable = [...this.#unreadable, ...parsed.unreadable.map(place)]
        else {
          const problem = this.#refusesUseless ? uselessIn(parsed.acl) : undefined
          if (problem !== undefined) throw new Error(`${problem}; to set it nevertheless, give --force`)
          nodes++
          yield { ...parsed, path: place(parsed.path), line }
        }
      } catch (error) {
        if (error instanceof ZooKeeperError) throw error
        throw new UsageError(`line ${line} of the input: ${(error as Error).message}`)
      }
    }
    this.#partProblem = partProblemOf(nodes, end)
  }
}

function partProblemOf(nodes: number, end: ExportEnd | undefined): string | undefined {
  if (end?.nodes === nodes) return undefined
  if (nodes === 0) return 'the input is empty: it may be of an export that has failed'
  const found = end === undefined ? `lacks the last line, {"nodes":${nodes}}` : `has ${nodes} of its ${end.nodes} nodes`
  return `the input may be a part of an export: it ${found}`
}
