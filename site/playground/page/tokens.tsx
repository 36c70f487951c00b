import { isActive, type ClientPicture } from '../../world/picture.ts'
import { describeClient, holds, lookOf } from '../model/words.ts'
import { STAR } from '../scene/glyphs.ts'
import type { Layout } from '../scene/layout.ts'
import type { Props } from './props.ts'
import { moveFocus } from './roving.ts'

/** The clients: buttons, of which one is in the order of the Tab key. The arrow keys lead to the others. */
export function Tokens({ playground, layout }: Props & { layout: Layout }) {
  const { clients } = playground.picture
  const { selection } = playground
  const chosen = selection?.kind === 'client' ? selection.client : undefined
  const reachable = clients.some(({ id }) => id === chosen) ? chosen : clients[0]?.id
  return (
    <div class="tokens" role="group" aria-label="Clients" onKeyDown={event => moveFocus(event)?.click()}>
      {clients.map(client => {
        const place = layout.clients[client.id]
        return (
          place && (
            <Token
              key={client.id}
              client={client}
              size={layout.token}
              isLow={place.y > layout.height / 2}
              isChosen={client.id === chosen}
              isReachable={client.id === reachable}
              onChoose={() => playground.select({ kind: 'client', client: client.id })}
              {...place}
            />
          )
        )
      })}
    </div>
  )
}

interface TokenProps {
  client: ClientPicture
  size: number
  x: number
  y: number
  /** True if it stands in the lower half of the stage. */
  isLow: boolean
  isChosen: boolean
  isReachable: boolean
  onChoose: () => void
}

function Token({ client, size, x, y, isLow, isChosen, isReachable, onChoose }: TokenProps) {
  const look = lookOf(client)
  const button = (
    <button
      type="button"
      class={`token ${look}${holds(client) ? ' active' : ''}`}
      style={{ left: `${x - size / 2}px`, top: `${y - size / 2}px`, width: `${size}px`, height: `${size}px` }}
      tabIndex={isReachable ? 0 : -1}
      aria-label={describeClient(client)}
      aria-pressed={isChosen}
      title={describeClient(client)}
      data-client={client.id}
      data-look={look}
      data-role={client.role}
      onClick={event => {
        event.stopPropagation()
        onChoose()
      }}
    >
      <span>{client.id === 0 ? 'op' : client.id}</span>
      {isActive(client.role) && (
        <svg class="badge" viewBox="-9 -9 18 18" aria-hidden="true">
          <path class={client.isConfirmed ? 'star' : 'star hollow'} d={STAR} />
        </svg>
      )}
      {SIGNS[look] !== undefined && (
        <svg class="badge sign" viewBox="-9 -9 18 18" aria-hidden="true">
          <circle r="8.5" />
          <path d={SIGNS[look]} />
        </svg>
      )}
    </button>
  )
  if (client.isConfirmed) return button
  return (
    <>
      {button}
      {/* Beside the button, whose name says it too, and towards the middle of the stage. */}
      <span
        class="belief"
        style={{ left: `${x}px`, top: `${y + (isLow ? -1 : 1) * (size / 2 + BELIEF)}px` }}
        aria-hidden="true"
      >
        believes
      </span>
    </>
  )
}

/** The distance of the middle of a word from a token, in pixels. */
const BELIEF = 14

/** Signs of states, so that they differ without colour too: a pause, a cross, a bar. */
const SIGNS: Readonly<Record<string, string>> = {
  stopped: 'M-2.5,-4.5V4.5M2.5,-4.5V4.5',
  dead: 'M-4,-4L4,4M4,-4L-4,4',
  expired: 'M-4,-4L4,4M4,-4L-4,4',
  closed: 'M-4.5,0H4.5',
  suspended: 'M0,-4.5V1M0,4V4.6',
}
