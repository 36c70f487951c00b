import type { Picture, StoreWrite } from '../../world/picture.ts'
import { nameOf } from '../model/words.ts'
import type { Box } from '../scene/layout.ts'

/** In a narrow box, a write takes two lines. */
const NARROW = 180
/** How many writes are shown. */
const SHOWN = { narrow: 2, wide: 3 }

/** True if the store outside ZooKeeper takes part in the story. */
export const isStoreUsed = ({ story }: Picture): boolean =>
  story.commands.some(({ do: command }) => command.kind === 'write' && command.protection !== 'guard')

/** The store outside ZooKeeper that a lock protects: the greatest token that it has seen, and its last writes. */
export function StoreBox({ picture, box }: { picture: Picture; box: Box }) {
  const { token, writes } = picture.store
  const { x, y, width, height } = box
  return (
    <div
      class="store"
      role="group"
      aria-label="The store"
      style={{ left: `${x - width / 2}px`, top: `${y - height / 2}px`, width: `${width}px`, height: `${height}px` }}
    >
      <p>
        <b>store</b> <small>not in ZooKeeper</small>
      </p>
      <p>greatest token: {token ?? 'none yet'}</p>
      <ol>
        {writes
          .map((write, i) => (
            <li key={i} class={write.isAccepted && write.isLate ? 'bad' : ''}>
              {textOf(write)}
            </li>
          ))
          .slice(width < NARROW ? -SHOWN.narrow : -SHOWN.wide)}
      </ol>
    </div>
  )
}

function textOf({ kind, client, token, isAccepted }: StoreWrite): string {
  const what = kind === 'registration' ? 'registers ' : ''
  return `${nameOf(client)}: ${what}${token === undefined ? 'no token' : `token ${token}`} ${isAccepted ? '✓' : '✗ refused'}`
}
