import { useEffect, useState } from 'preact/hooks'
import type { Playground } from '../model/playground.ts'
import type { Props } from './props.ts'

/** Opens a file of the reader, by its name or by a drop anywhere on the page. Nothing of it leaves the page. */
export function OpenFile({ playground }: Props) {
  const isOver = useDrop(playground)
  return (
    <form class={`open-file${isOver ? ' over' : ''}`}>
      <label class="like-button">
        Open a file
        <input
          type="file"
          class="hidden"
          aria-describedby="what-opens"
          onChange={event => {
            open(playground, event.currentTarget.files)
            // The same file can be chosen again, after it has changed.
            event.currentTarget.value = ''
          }}
        />
      </label>
      <p id="what-opens" class="faint">
        or drop it on the page: a capture (.pcap, .pcapng), what <code>zkwire trace --json</code> prints, or what{' '}
        <code>zkwire judge --save</code> writes. It stays in this page.
      </p>
    </form>
  )
}

function open(playground: Playground, files: FileList | null | undefined): void {
  const file = files?.[0]
  if (file !== undefined) void playground.openFile({ name: file.name, chunks: chunksOf(file) })
}

/** Not every browser lets a stream be iterated. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    // The page may have seen enough.
    await reader.cancel()
  }
}

/** Opens a file that is dropped. Returns true while one is over the page. */
function useDrop(playground: Playground): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const onOver = (event: DragEvent) => {
      if (!hasFile(event)) return
      // Otherwise the browser would leave the page for the file.
      event.preventDefault()
      setOver(true)
    }
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const onDrop = (event: DragEvent) => {
      if (!hasFile(event)) return
      event.preventDefault()
      setOver(false)
      open(playground, event.dataTransfer?.files)
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [playground])
  return isOver
}
