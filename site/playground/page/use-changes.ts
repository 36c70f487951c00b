// Draws components again when the playground has changed.
import { useEffect, useReducer } from 'preact/hooks'
import type { Playground } from '../model/playground.ts'

/** The least time between two renderings while the page plays. The canvas is painted at each drawing of the browser. */
const MS = 120

export function useChanges(playground: Playground): void {
  const [, draw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let drawn = 0
    const now = () => {
      timer = undefined
      drawn = performance.now()
      draw(undefined)
    }
    const end = playground.onChange(() => {
      const wait = playground.playing ? MS - (performance.now() - drawn) : 0
      timer ??= setTimeout(now, Math.max(0, wait))
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [playground])
}
