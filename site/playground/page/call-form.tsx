import { useState } from 'preact/hooks'
import { paths } from '../../../src/protocol/entry.ts'
import { CREATE_MODES, LIMITS, type Call, type CreateMode } from '../../world/story.ts'
import type { Props } from './app.tsx'

/** Lets a bare client call an operation. */
export function CallForm({ playground, client }: Props & { client: number }) {
  const [path, setPath] = useState('/a')
  const [data, setData] = useState('')
  const [mode, setMode] = useState<CreateMode>('persistent')
  const [watch, setWatch] = useState(true)
  const calls: [title: string, call: Call][] = [
    ['create', { op: 'create', path, data, mode }],
    ['get', { op: 'get', path, watch }],
    ['exists', { op: 'exists', path, watch }],
    ['children', { op: 'children', path, watch }],
    ['set', { op: 'set', path, data }],
    ['delete', { op: 'delete', path }],
    ['sync', { op: 'sync', path }],
    ['watch all below', { op: 'add watch', path, recursive: true }],
  ]
  const isPath = paths.pathProblem(path) === undefined
  return (
    <div class="calls">
      <h3>Let client {client} call</h3>
      <div class="pair">
        <label class="field">
          <span>Path</span>
          <input
            value={path}
            maxLength={LIMITS.path}
            aria-invalid={!isPath}
            onInput={event => setPath(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Data</span>
          <input value={data} maxLength={LIMITS.data} onInput={event => setData(event.currentTarget.value)} />
        </label>
      </div>
      <div class="pair">
        <label class="field">
          <span>Mode of create</span>
          <select value={mode} onChange={event => setMode(event.currentTarget.value as CreateMode)}>
            {CREATE_MODES.map(mode => (
              <option key={mode} value={mode}>
                {mode}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={watch} onChange={event => setWatch(event.currentTarget.checked)} />
          with a watch
        </label>
      </div>
      <div class="buttons many" role="group" aria-label={`Calls of client ${client}`}>
        {calls.map(([title, call]) => (
          <button
            key={title}
            type="button"
            disabled={!isPath}
            onClick={() => void playground.act({ kind: 'call', client, call })}
          >
            {title}
          </button>
        ))}
      </div>
    </div>
  )
}
