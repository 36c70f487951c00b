// The lessons that the reader has finished, which the browser keeps for the next visit if it may.
import type { Playground } from '../model/playground.ts'

const KEY = 'zkwire: finished lessons'

/** Tells the playground which lessons were finished before, and keeps those that will be. */
export function keepFinished(playground: Playground): void {
  const { lessons } = playground
  lessons.remember(kept())
  let count = lessons.finished.size
  playground.onChange(() => {
    if (lessons.finished.size === count) return
    count = lessons.finished.size
    keep([...lessons.finished])
  })
}

function kept(): string[] {
  try {
    return (localStorage.getItem(KEY) ?? '').split(' ')
  } catch {
    // The browser, or the frame that the page is in, forbids it.
    return []
  }
}

function keep(ids: readonly string[]): void {
  try {
    localStorage.setItem(KEY, ids.join(' '))
  } catch {
    // The marks then last as long as the page.
  }
}
