// `zkwire import`.
import type { Client } from '../../client/index.ts'
import { serverPath, unlessRefused } from '../../client/recipe-support.ts'
import { onAbort } from '../../runtime/abort.ts'
import { isCode, parentOf, ZooKeeperError, type ACL, type Stat } from '../../protocol/index.ts'
import { command } from '../runner/command.ts'
import { CommandError, statusOf, statuses, UsageError } from '../runner/failure.ts'
import { aclText, forceOption } from '../nodes/acl-text.ts'
import { ImportedNodes } from '../nodes/imported-nodes.ts'
import {
  actionOf,
  batchesOf,
  modes,
  opOf,
  type Action,
  type Existing,
  type PlacedNode,
} from '../nodes/import-batches.ts'
import { isWithin, readChildren, walk } from '../nodes/tree-walk.ts'

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
    'The last line of an export counts its nodes. An input without it, or with another number of nodes, may be a part: ' +
      'its nodes are imported, and the status is 64. With --part, as for lines that you write or select, it is 0.',
    'With --mirror, nodes are deleted only after the whole input was imported, only if it is a whole export, and only if ' +
      'they have not changed since they were read. Ephemeral nodes, the nodes above them, and nodes that this session may ' +
      'not read or delete, or that the export could not read, are kept and counted. Try it with --dry-run first; zkwire ' +
      'diff prints the nodes.',
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
    mirror: {
      type: 'boolean',
      help: 'as --overwrite, and then deletes the nodes below the first one that the input lacks; never / or /zookeeper',
    },
    part: { type: 'boolean', help: 'ends with 0 also if the input may be only a part of an export' },
    force: forceOption,
    'dry-run': { type: 'boolean', short: 'n', help: 'writes nothing, and prints what would be done' },
  },
  examples: ['zkwire import < app.jsonl', 'zkwire import --to /copy --dry-run < app.jsonl'],
  async run({ values, stdin, client, out, err, signal, host }) {
    const [one, another] = (['skip', 'overwrite', 'mirror'] as const).filter(name => values[name])
    if (another !== undefined) throw new UsageError(`--${one} and --${another} exclude each other`)
    if (values.part && values.mirror)
      throw new UsageError('--part and --mirror exclude each other: a part does not say what to delete')
    const existing: Existing = values.skip ? 'skip' : values.overwrite || values.mirror ? 'overwrite' : 'refuse'
    const to = values.to === undefined ? undefined : host.resolve(values.to).replace(/(.)\/$/, '$1')
    const zk = await client()
    const importer = new Importer(zk, existing, values['dry-run'])
    const stopListening = onAbort(signal, () => {
      if (importer.progress !== undefined) err.notice(`zkwire import: interrupted; ${importer.progress}`)
    })
    const nodes = new ImportedNodes(stdin, to, !values.force)
    try {
      for await (const batch of batchesOf(nodes)) await importer.add(batch, values.mirror)
      const { partProblem } = nodes
      if (partProblem !== undefined && !values.part) throw new UsageError(partProblem)
      if (partProblem !== undefined) await err.line(`zkwire import: ${partProblem}`)
      if (values.mirror) await importer.removeOthers(new Set(nodes.unreadable), signal)
    } catch (error) {
      const { progress } = importer
      if (!(error instanceof Error) || progress === undefined) throw error
      throw new CommandError(statusOf(error), `${error.message}; ${progress}`)
    } finally {
      stopListening()
    }
    const { create, overwrite, skip, conflict, remove, keep } = importer.counts
    const verb = values['dry-run'] ? 'would ' : ''
    const { counts } = importer
    const shown = values.mirror ? counts : { create, overwrite, skip, conflict }
    await out.show({ ...shown, dryRun: values['dry-run'] }, () => [
      `${verb}create ${create}, overwrite ${overwrite}, skip ${skip}` +
        (values.mirror ? `, remove ${remove}, keep ${keep}` : '') +
        (values['dry-run'] ? `, refuse ${conflict}` : ''),
    ])
    return conflict > 0 ? statuses.refused : statuses.ok
  },
})

class Importer {
  readonly counts: Record<Action | 'remove' | 'keep', number> = {
    ...{ create: 0, overwrite: 0, skip: 0, conflict: 0 },
    ...{ remove: 0, keep: 0 },
  }
  /** The paths of all nodes of the input, the first one first. Kept only for a mirror. */
  readonly #paths = new Set<string>()
  /** How far the import came: the line of the last node, and the number of nodes. */
  readonly #done = { line: 0, nodes: 0 }
  /** The first and the last line of a batch that may have been written: its reply is missing. */
  #uncertain: readonly [number, number] | undefined
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
    if (nodes === 0 && this.#uncertain === undefined && this.#partial === undefined) return undefined
    return [
      ...(nodes > 0 ? [`${nodes} nodes, up to line ${line}, are imported`] : []),
      ...(this.#uncertain === undefined ? [] : [`the lines ${this.#uncertain.join(' to ')} may be imported too`]),
      ...(this.#partial === undefined
        ? []
        : [`of the lines ${this.#partial.join(' to ')}, the data is imported, and perhaps not all ACLs`]),
      `run it again with --${this.#paths.size > 0 ? 'mirror' : this.#existing === 'overwrite' ? 'overwrite' : 'skip'} to continue`,
    ].join('; ')
  }

  /** @param isMirror true if {@link removeOthers} follows */
  async add(batch: readonly PlacedNode[], isMirror: boolean): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    if (isMirror && /^\/(zookeeper)?$/.test(serverPath(this.#zk, first.path)))
      throw new UsageError('--mirror does not delete what is below /: import below a node, or use --overwrite')
    if (isMirror) for (const { path } of batch) this.#paths.add(path)
    const system = batch.find(({ path }) => /^\/zookeeper(\/|$)/.test(serverPath(this.#zk, path)))
    if (system !== undefined)
      throw new UsageError(`line ${system.line} of the input: ${system.path} belongs to the server`)
    if (this.#done.line === 0 && !this.#isDry && first.path !== '/') await this.#zk.ensurePath(parentOf(first.path))
    // The nodes of a write whose reply was lost. If they exist in the next round, this import has created them.
    const lost = new Set<PlacedNode>()
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
        if (isRepeatable) for (const [i, node] of batch.entries()) if (actions[i] === 'create') lost.add(node)
        continue
      }
      for (const [i, node] of batch.entries()) this.counts[lost.has(node) ? 'create' : (actions[i] ?? 'skip')]++
      if (this.#isDry) return
      this.#done.line = batch.at(-1)?.line ?? 0
      this.#done.nodes += batch.length
      return
    }
  }

  /**
   * Deletes the nodes below the first one of the input that the input lacks, each after its children.
   * @param unknown nodes of which the input does not know whether they exist, nor what is below them
   */
  async removeOthers(unknown: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const [root] = this.#paths
    if (root === undefined) throw new UsageError('--mirror: the input is empty, so it does not say what to keep')
    // The server may not have seen yet what other clients have created.
    await this.#zk.retry(() => this.#zk.sync(root), { signal })
    const others: { path: string; stat: Stat | undefined }[] = []
    try {
      for await (const { path, value } of walk(root, readChildren(this.#zk, signal)))
        if (!this.#paths.has(path)) others.push({ path, stat: isWithin(path, unknown) ? undefined : value?.stat })
    } catch (error) {
      // With --dry-run, the first node may be one that would be created.
      if (!this.#isDry || !isCode(error, 'NONODE')) throw error
    }
    const kept = new Set<string>()
    for (const { path, stat } of others.reverse()) {
      if (!kept.has(path) && (await this.#remove(path, stat))) this.counts.remove++
      else {
        this.counts.keep++
        kept.add(parentOf(path))
      }
    }
  }

  /** Returns false if the node must be kept. */
  async #remove(path: string, stat: Stat | undefined): Promise<boolean> {
    if (stat === undefined || stat.ephemeralOwner !== 0n) return false
    if (this.#isDry) return true
    try {
      await this.#zk.retry(() => this.#zk.delete(path, { version: stat.version }))
    } catch (error) {
      // Another client has changed the node since, or created a child, or this session may not delete it.
      if (isCode(error, 'BADVERSION', 'NOTEMPTY', 'NOAUTH')) return false
      if (!isCode(error, 'NONODE')) throw error
    }
    return true
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
    // Servers from 3.8.4 and 3.9.2 on require READ on a node that exists (ZOOKEEPER-2590).
    return (await unlessRefused(this.#zk.exists(path), 'NOAUTH')) !== null
  }

  async #write(batch: readonly PlacedNode[], actions: readonly Action[]): Promise<void> {
    const conflict = batch[actions.indexOf('conflict')]
    if (conflict !== undefined) {
      const hint = 'give --skip to leave such nodes as they are, or --overwrite to replace them'
      throw new ZooKeeperError('NODEEXISTS', { op: 'import', path: conflict.path, fate: 'refused', detail: hint })
    }
    const writes = batch.flatMap((node, i) => {
      const action = actions[i]
      return action === 'create' || action === 'overwrite' ? [{ node, action }] : []
    })
    const lines = [batch[0]?.line ?? 0, batch.at(-1)?.line ?? 0] as const
    this.#uncertain = lines
    try {
      const [only, ...others] = writes
      if (only !== undefined && others.length === 0) await this.#writeOne(only.node, only.action)
      else if (others.length > 0) await this.#zk.multi(writes.map(({ node, action }) => opOf(node, action)))
      this.#uncertain = undefined
    } catch (error) {
      if (!(error instanceof ZooKeeperError && error.fate === 'unknown')) this.#uncertain = undefined
      throw error
    }
    // A multi cannot set ACLs. After the data, because the new ACL may not allow this session to write it.
    const overwritten = batch.filter((_, i) => actions[i] === 'overwrite')
    if (overwritten.length > 0) this.#partial = lines
    await Promise.all(overwritten.map(node => this.#setACL(node)))
    this.#partial = undefined
  }

  /** Without a multi, whose request is 18 bytes longer. The largest nodes of a server leave no room for them. */
  async #writeOne({ path, data, acl, kind, ttl }: PlacedNode, action: 'create' | 'overwrite'): Promise<void> {
    const zk = this.#zk
    if (action === 'overwrite') return void (await zk.setData(path, data))
    const options = { acl, mode: modes[kind], ttl }
    try {
      await zk.create(path, data, options)
    } catch (error) {
      if (!isCode(error, 'REQUESTTOOLARGE')) throw error
      // The request of setData, which has written such a node, has no ACL.
      await zk.create(path, null, options)
      await zk
        .retry(() => zk.setData(path, data))
        .catch(async (failure: unknown) => {
          // A later import with --skip would take the empty node for the whole one.
          await zk.retry(() => zk.delete(path))
          throw failure
        })
    }
  }

  async #setACL({ path, acl }: PlacedNode): Promise<void> {
    const entries = (list: readonly ACL[]) => list.map(aclText).sort().join()
    await this.#zk.retry(async () => {
      const { acl: present } = await this.#zk.getACL(path)
      if (entries(present) !== entries(acl)) await this.#zk.setACL(path, acl)
    })
  }
}
