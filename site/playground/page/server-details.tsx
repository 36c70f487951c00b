import { useState } from 'preact/hooks'
import type { ServerPicture, WatchPicture } from '../../world/picture.ts'
import { zxidWords } from '../../world/member-message.ts'
import { describeServer, nameOf, seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { Facts } from './facts.tsx'
import { moveFocus } from './roving.ts'

/** A server: its sessions and watches, and what the reader can do to it. */
export function ServerDetails({ playground, server }: Props & { server: ServerPicture | undefined }) {
  if (server === undefined) return null
  const { id, mode, epoch, zxid, sessions, watches, isCutOff, lag } = server
  const isAlone = playground.story.scenario.servers === 1
  const isCaptured = playground.capture !== undefined
  return (
    <>
      <h3>{describeServer(server)}</h3>
      <Facts
        facts={[
          ['mode', isCaptured ? undefined : mode],
          ['epoch', isCaptured ? undefined : epoch],
          ['zxid', isAlone ? zxid : zxidWords(BigInt(zxid))],
        ]}
      />
      {!isCaptured && (
        <div class="buttons many" role="group" aria-label={`What to do to server ${id}`}>
          <button
            type="button"
            data-command="restart server"
            disabled={mode === 'stopped'}
            onClick={() => void playground.act({ kind: 'restart server', server: id })}
          >
            Restart it
          </button>
          {!isAlone && (
            <>
              <button
                type="button"
                data-command="cut off"
                disabled={isCutOff}
                onClick={() => void playground.act({ kind: 'cut off', server: id })}
              >
                Cut it off from the others
              </button>
              <button
                type="button"
                data-command="heal"
                disabled={!isCutOff}
                onClick={() => void playground.act({ kind: 'heal', server: id })}
              >
                Heal the cut
              </button>
              <button
                type="button"
                data-command="lag"
                onClick={() => void playground.act({ kind: 'lag', server: id, seconds: lag > 0 ? 0 : 1 })}
              >
                {lag > 0 ? 'End its lag' : 'Let it lag by a second'}
              </button>
            </>
          )}
        </div>
      )}
      {!isAlone && <Messages playground={playground} server={id} />}
      <h4>Sessions</h4>
      <div class="scroll" tabIndex={0} role="group" aria-label={`Sessions of server ${id}`} data-keys>
        <table>
          <thead>
            <tr>
              <th scope="col">session</th>
              <th scope="col">of</th>
              <th scope="col">timeout</th>
              <th scope="col">here</th>
            </tr>
          </thead>
          <tbody>
            {sessions.map(({ id, client, timeout, isConnected }) => (
              <tr key={id}>
                <td class="hex">{id}</td>
                <td>{client === undefined ? 'nobody here' : nameOf(client)}</td>
                <td>{seconds(timeout)}</td>
                <td>{isConnected ? 'connected' : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h4>Watches</h4>
      <Watches playground={playground} watches={watches} server={id} />
    </>
  )
}

/** The number of messages of a server in its list. */
const LISTED = 12

/** The last messages of a server to and from the others, without pings: buttons, of which one is in the order of the Tab key. */
function Messages({ playground, server }: Props & { server: number }) {
  const [focused, setFocused] = useState(0)
  const messages = playground.messages
    .filter(({ from, to, kind }) => (from === server || to === server) && kind !== 'ping' && kind !== 'pong')
    .slice(-LISTED)
    .reverse()
  const reachable = Math.min(focused, messages.length - 1)
  if (messages.length === 0) return null
  return (
    <>
      <h4>Last messages to and from other servers</h4>
      <ul class="links scroll" aria-label={`Messages of server ${server}`} onKeyDown={moveFocus}>
        {messages.map(({ n, kind, from, to, sentAt }, i) => (
          <li key={n}>
            <button
              type="button"
              class="link"
              tabIndex={i === reachable ? 0 : -1}
              onFocus={() => setFocused(i)}
              onClick={() => playground.select({ kind: 'message', n })}
            >
              {kind} {n}
            </button>{' '}
            <span class="faint">
              {from === server ? `to server ${to}` : `from server ${from}`}, {seconds(sentAt)}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

interface WatchesProps extends Props {
  watches: readonly WatchPicture[]
  server: number
}

/** The watches: buttons, of which one is in the order of the Tab key. */
function Watches({ playground, watches, server }: WatchesProps) {
  const [focused, setFocused] = useState(0)
  const reachable = Math.min(focused, watches.length - 1)
  return (
    <ul class="links scroll" aria-label={`Watches of server ${server}`} onKeyDown={moveFocus}>
      {watches.map(({ path, kind, client, session }, i) => (
        <li key={path + kind + session}>
          <button
            type="button"
            class="link"
            tabIndex={i === reachable ? 0 : -1}
            onFocus={() => setFocused(i)}
            onClick={() => playground.select({ kind: 'node', path })}
          >
            {path}
          </button>{' '}
          <span class="faint">
            {kind}, {client === undefined ? 'another session' : nameOf(client)}
          </span>
        </li>
      ))}
    </ul>
  )
}
