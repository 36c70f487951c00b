// `zkwire import`.
import type { Client } from '../../client/index.ts'
import { serverPath } from '../../client/recipe-support.ts'
import { onAbort } from '../../runtime/abort.ts'
import { isCode, parentOf, ZooKeeperError, type ACL } from '../../protocol/index.ts'
import { command } from '../runner/command.ts'
import { CommandError, statusOf, statuses, UsageError } from '../runner/failure.ts'
import { aclText } from '../nodes/acl-text.ts'
import { nodeOf } from '../nodes/exported-node.ts'
import {
  actionOf,
  batchesOf,
  moved,
  opOf,
  type Action,
  type Existing,
  type PlacedNode,
} from '../nodes/import-batches.ts'
import { escaped } from '../runner/text.ts'

/** A batch is planned again if other clients create or delete its nodes meanwhile, but only in this many rounds. */
const ROUNDS = 10

export const importNodes = command({
  name: 'import',
  summary: 'creates the nodes that zkwire export wrote, from stdin',
  details: [
    'Creates the nodes at the paths that they had, or below --to, with data and ACL, in batches: each is created ' +
      'as a whole, or not at all. Missing nodes above the first one are created. A node that exists is an error, ' +
      'unless --skip or --overwrite is given. ACLs apply at once, so the session must be allowed to create children.',
    'With --overwrite, the nodes of a batch that exist get their data as a whole, or not at all, and then their ACLs one ' +
      'by one where they differ, because servers cannot set an ACL in a transaction.',
    'If the import breaks off, the message says at which line, and how to continue.',
  ],
  arguments: [],
  options: {
    to: {
      type: 'string',
      short: 't',
      value: 'PATH',
      help: 'the node that the first line becomes; default: its own path',
    },
    skip: { type: 'boolean', help: 'leaves nodes that exist as they are' },
    overwrite: { type: 'boolean', help: 'replaces data and ACL of nodes that exist' },
    'dry-run': { type: 'boolean', short: 'n', help: 'writes nothing, and prints what would be done' },
  },
  examples: ['zkwire import < app.jsonl', 'zkwire import --to /copy --dry-run < app.jsonl'],
  async run({ values, stdin, client, out, err, signal, host }) {
    if (values.skip && values.overwrite) throw new UsageError('--skip and --overwrite exclude each other')
    const existing: Existing = values.skip ? 'skip' : values.overwrite ? 'overwrite' : 'refuse'
    const to = values.to === undefined ? undefined : host.resolve(values.to).replace(/(.)\/$/, '$1')
    const zk = await client()
    const importer = new Importer(zk, existing, values['dry-run'])
    const stopListening = onAbort(signal, () => {
      if (importer.progress !== undefined) err.notice(`zkwire import: interrupted; ${importer.progress}`)
    })
    try {
      for await (const batch of batchesOf(placed(linesOf(stdin), to))) await importer.add(batch)
    } catch (error) {
      const { progress } = importer
      if (!(error instanceof Error) || progress === undefined) throw error
      throw new CommandError(statusOf(error), `${error.message}; ${progress}`)
    } finally {
      stopListening()
    }
    const { create, overwrite, skip, conflict } = importer.counts
    const verb = values['dry-run'] ? 'would ' : ''
    await out.show({ ...importer.counts, dryRun: values['dry-run'] }, () => [
      `${verb}create ${create}, overwrite ${overwrite}, skip ${skip}` +
        (values['dry-run'] ? `, refuse ${conflict}` : ''),
    ])
    return conflict > 0 ? statuses.refused : statuses.ok
  },
})

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

/** Parses the lines, and moves the nodes below `to`. */
async function* placed(
  lines: AsyncIterable<string>,
  to: string | undefined,
): AsyncGenerator<PlacedNode, void, undefined> {
  let line = 0
  let root: string | undefined
  for await (const text of lines) {
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

class Importer {
  readonly counts: Record<Action, number> = { create: 0, overwrite: 0, skip: 0, conflict: 0 }
  /** How far the import came: the line of the last node, and the number of nodes. */
  readonly #done = { line: 0, nodes: 0 }
  /** The first and the last line of a batch whose data is written, and whose ACLs are not. */
  #partial: readonly [number, number] | undefined
  readonly #zk: Client
  readonly #existing: Existing
  readonly #isDry: boolean

  constructor(zk: Client, existing: Existing, isDry: boolean) {
    this.#zk = zk
    this.#existing = existing
    this.#isDry = isDry
  }

  /** Says how far the import came, and how to continue. Undefined if nothing was written. */
  get progress(): string | undefined {
    const { line, nodes } = this.#done
    if (nodes === 0 && this.#partial === undefined) return undefined
    return [
      ...(nodes > 0 ? [`${nodes} nodes, up to line ${line}, are imported`] : []),
      ...(this.#partial === undefined
        ? []
        : [`of the lines ${this.#partial.join(' to ')}, the data is imported, and perhaps not all ACLs`]),
      `run it again with --${this.#existing === 'overwrite' ? 'overwrite' : 'skip'} to continue`,
    ].join('; ')
  }

  async add(batch: readonly PlacedNode[]): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    const system = batch.find(({ path }) => /^\/zookeeper(\/|$)/.test(serverPath(this.#zk, path)))
    if (system !== undefined)
      throw new UsageError(`line ${system.line} of the input: ${system.path} belongs to the server`)
    if (this.#done.line === 0 && !this.#isDry && first.path !== '/') await this.#zk.ensurePath(parentOf(first.path))
    for (let round = 1; ; round++) {
      const actions = await this.#plan(batch)
      try {
        if (!this.#isDry) await this.#write(batch, actions)
      } catch (error) {
        // Another client has created or deleted a node since the plan was made.
        const isStale = this.#existing !== 'refuse' && isCode(error, 'NODEEXISTS', 'NONODE') && round < ROUNDS
        // A batch that may have been written can be written again, because its nodes then exist.
        const isRepeatable = this.#existing !== 'refuse' && isCode(error, 'CONNECTIONLOSS') && round < ROUNDS
        if (!isStale && !isRepeatable) throw error
        continue
      }
      for (const action of actions) this.counts[action]++
      if (this.#isDry) return
      this.#done.line = batch.at(-1)?.line ?? 0
      this.#done.nodes += batch.length
      return
    }
  }

  /** Returns what each node of the batch needs. */
  #plan(batch: readonly PlacedNode[]): Promise<Action[]> {
    return Promise.all(
      batch.map(async ({ path }) => {
        // The first node of an import of / exists always.
        const existing = path === '/' && this.#existing === 'refuse' ? 'skip' : this.#existing
        const exists = await this.#zk.retry(() => this.#exists(path))
        return actionOf(exists, existing)
      }),
    )
  }

  async #exists(path: string): Promise<boolean> {
    try {
      return (await this.#zk.exists(path)) !== null
    } catch (error) {
      // Servers from 3.8.4 and 3.9.2 on require READ on a node that exists (ZOOKEEPER-2590).
      if (isCode(error, 'NOAUTH')) return true
      throw error
    }
  }

  async #write(batch: readonly PlacedNode[], actions: readonly Action[]): Promise<void> {
    const conflict = batch[actions.indexOf('conflict')]
    if (conflict !== undefined) {
      const hint = 'give --skip to leave such nodes as they are, or --overwrite to replace them'
      throw new ZooKeeperError('NODEEXISTS', { op: 'import', path: conflict.path, fate: 'refused', detail: hint })
    }
    const ops = batch.flatMap((node, i) => {
      const action = actions[i]
      return action === 'create' || action === 'overwrite' ? [opOf(node, action)] : []
    })
    if (ops.length > 0) await this.#zk.multi(ops)
    // A multi cannot set ACLs. After the data, because the new ACL may not allow this session to write it.
    const overwritten = batch.filter((_, i) => actions[i] === 'overwrite')
    if (overwritten.length > 0) this.#partial = [batch[0]?.line ?? 0, batch.at(-1)?.line ?? 0]
    await Promise.all(overwritten.map(node => this.#setACL(node)))
    this.#partial = undefined
  }

  async #setACL({ path, acl }: PlacedNode): Promise<void> {
    const entries = (list: readonly ACL[]) => list.map(aclText).sort().join()
    const { acl: present } = await this.#zk.getACL(path)
    if (entries(present) !== entries(acl)) await this.#zk.setACL(path, acl)
  }
}
