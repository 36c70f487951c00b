import type { NodePicture, ServerPicture } from '../../world/picture.ts'
import { describeMode, plural } from '../model/words.ts'
import { MANY_NODES, type Box } from '../scene/layout.ts'
import type { Props } from './props.ts'
import { moveFocus } from './roving.ts'

/** With more children than this, a parent shows them as small tiles in the box of one of three servers. */
const MANY_IN_SMALL = 3
const STEP = 12

interface ServerProps extends Props {
  server: ServerPicture
  box: Box
  /** True if the boxes have no room for more than the name and the tree. */
  isNarrow: boolean
}

/** A server: its mode, its tree, and how many sessions and watches it has. */
export function ServerBox({ playground, server, box, isNarrow }: ServerProps) {
  const { id, mode, isObserver, zxid, isCutOff, sessions, watches } = server
  const { x, y, width, height } = box
  const isSmall = playground.picture.servers.length > 1
  return (
    <div
      class={`server ${mode}${isObserver ? ' no-vote' : ''}${isCutOff ? ' cut-off' : ''}${isSmall ? ' small' : ''}${isNarrow ? ' narrow' : ''}`}
      style={{ left: `${x - width / 2}px`, top: `${y - height / 2}px`, width: `${width}px`, height: `${height}px` }}
      data-server={id}
      data-mode={mode}
      onClick={event => event.stopPropagation()}
    >
      <button type="button" class="server-name" onClick={() => playground.select({ kind: 'server', server: id })}>
        <b>server {id}</b> <span>{describeMode(server)}</span>
        <small>
          {isSmall ? <Zxid zxid={zxid} /> : `zxid ${zxid}`}
          {/* All servers have the same sessions. */}
          {!isSmall && ` · ${plural(sessions.length, 'session')}`} · {plural(watches.length, 'watch', 'watches')}
        </small>
      </button>
      <Tree playground={playground} server={server} many={isSmall ? MANY_IN_SMALL : MANY_NODES} />
    </div>
  )
}

/** The zxid of a server of an ensemble, with its upper half, the epoch, set apart. */
function Zxid({ zxid }: { zxid: string }) {
  // Eight hex digits are the lower half.
  const epoch = zxid.slice(2, -8)
  return (
    <>
      zxid 0x<b title="the epoch">{epoch}</b>
      {zxid.slice(2 + epoch.length)}
    </>
  )
}

/** The nodes: buttons, of which one is in the order of the Tab key. */
function Tree({ playground, server, many }: Props & { server: ServerPicture; many: number }) {
  const nodes = server.nodes.filter(({ path }) => path !== '/' && !path.startsWith('/zookeeper'))
  const watchers = new Map<string, number>()
  for (const { path } of server.watches) watchers.set(path, (watchers.get(path) ?? 0) + 1)
  // The queue of a lock is in the order of the numbers, whatever stands before them.
  const childrenOf = (parent: string) =>
    nodes
      .filter(({ path }) => path.slice(0, path.lastIndexOf('/')) === parent)
      .sort((a, b) => (numberOf(a.path) ?? 0) - (numberOf(b.path) ?? 0))
  const { selection } = playground
  const chosen = selection?.kind === 'node' ? selection.path : undefined
  const first = childrenOf('')[0]?.path
  const reachable = nodes.some(({ path }) => path === chosen) ? chosen : first
  const branch = (parent: string, depth: number) => {
    const children = childrenOf(parent)
    if (children.length === 0) return undefined
    const isLeafy = children.length > many && children.every(({ path }) => childrenOf(path).length === 0)
    return (
      <ul class={isLeafy ? 'tiles' : 'rows'}>
        {children.map(node => (
          <li key={node.path} style={isLeafy ? {} : { paddingLeft: `${depth * STEP}px` }}>
            <NodeButton
              node={node}
              watchers={watchers.get(node.path) ?? 0}
              isTile={isLeafy}
              isChosen={node.path === chosen}
              isReachable={node.path === reachable}
              onChoose={() => playground.select({ kind: 'node', path: node.path })}
            />
            {branch(node.path, depth + 1)}
          </li>
        ))}
      </ul>
    )
  }
  return (
    <div
      class="tree"
      role="group"
      aria-label={`Nodes of server ${server.id}`}
      onKeyDown={event => moveFocus(event)?.click()}
    >
      {branch('', 0) ?? (
        <p class="faint">{server.mode === 'unknown' ? 'no frame has named a node yet' : 'only the root node yet'}</p>
      )}
    </div>
  )
}

interface NodeProps {
  node: NodePicture
  watchers: number
  isTile: boolean
  isChosen: boolean
  isReachable: boolean
  onChoose: () => void
}

function NodeButton({ node, watchers, isTile, isChosen, isReachable, onChoose }: NodeProps) {
  const { path, kind, owner, text } = node
  return (
    <button
      type="button"
      class={`node ${kind}`}
      title={path}
      tabIndex={isReachable ? 0 : -1}
      aria-pressed={isChosen}
      data-path={path}
      onClick={onChoose}
    >
      <span class="hidden">node </span>
      <NodeName path={path} isTile={isTile} />
      <span class="hidden">, {kind}</span>
      {owner !== undefined && (
        <>
          <span class="hidden">, of client </span>
          <span class="owner">{owner}</span>
        </>
      )}
      {!isTile && text !== undefined && text !== '' && <span class="faint">“{text.slice(0, 16)}”</span>}
      {watchers > 0 && (
        <span class="watchers">
          <svg viewBox="-9 -6 18 12" width="15" height="10" aria-hidden="true">
            <path d="M-8,0Q0,-9,8,0Q0,9,-8,0Z" fill="none" stroke="currentColor" stroke-width="1.6" />
            <circle r="2.4" fill="currentColor" />
          </svg>
          {watchers > 1 && watchers}
          <span class="hidden"> {watchers > 1 ? 'watches' : 'watched'}</span>
        </span>
      )}
    </button>
  )
}

/** A name that is cut in its middle, but never in its number, because the recipes order their queues by it. */
function NodeName({ path, isTile }: { path: string; isTile: boolean }) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const number = numberOf(path)
  const start = number === undefined ? name : name.slice(0, -DIGITS)
  const shown = isTile ? (number === undefined ? `…${name.slice(-7)}` : '…') : `/${middleless(start)}`
  return (
    <span class="node-name">
      <span class="node-start">{shown}</span>
      {number !== undefined && <span class="node-number">{isTile ? number : name.slice(-DIGITS)}</span>}
    </span>
  )
}

/** The number of digits of a sequential node. */
const DIGITS = 10

/** Returns the number of a sequential node, or undefined. */
function numberOf(path: string): number | undefined {
  const digits = /\d{10}$/.exec(path)?.[0]
  return digits === undefined ? undefined : Number(digits)
}

/** Leaves out the middle of the UUID that a recipe puts before the number. */
const middleless = (start: string): string => (start.length > 24 ? `${start.slice(0, 8)}…${start.slice(-6)}` : start)
