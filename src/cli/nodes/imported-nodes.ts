// The nodes of an export, line by line.
import { ZooKeeperError } from '../../protocol/index.ts'
import { UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import { nodeOf } from './exported-node.ts'
import { moved, type PlacedNode } from './import-batches.ts'

/** The longest line, in characters: servers accept no node of that size. */
const LONGEST_LINE = 64 * 1024 * 1024

/**
 * Splits at line feeds only: node:readline also splits at U+2028, which JSON may contain.
 * @throws UsageError if the input is not UTF-8, or has a line that is too long
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
  for await (const chunk of stream) {
    const [first = '', ...others] = (typeof chunk === 'string' ? chunk : decoded(chunk)).split('\n')
    rest += first
    for (const other of others) {
      yield rest
      rest = other
    }
    if (rest.length > LONGEST_LINE) throw new UsageError('the input has a line that is too long for a node')
  }
  yield rest + decoded()
}

/**
 * Reads the nodes that `zkwire export` wrote, and moves them below `to`.
 * @throws UsageError that names the line, if it is malformed or not below the node of the first line
 */
export async function* importedNodes(
  input: NodeJS.ReadableStream,
  to: string | undefined,
): AsyncGenerator<PlacedNode, void, undefined> {
  let line = 0
  let root: string | undefined
  for await (const text of linesOf(input)) {
    line++
    if (text.trim() === '') continue
    const wrong = (problem: string) => new UsageError(`line ${line} of the input: ${problem}`)
    try {
      const node = nodeOf(text)
      root ??= node.path
      const path = moved(node.path, root, to ?? root)
      if (path === undefined)
        throw new Error(`${escaped(node.path)} is not below the node of the first line, ${escaped(root)}`)
      yield { ...node, path, line }
    } catch (error) {
      throw error instanceof ZooKeeperError ? error : wrong((error as Error).message)
    }
  }
}
