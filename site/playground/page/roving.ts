// Groups of buttons of which one is in the order of the Tab key, so that sixty clients are not sixty stops.
import type { TargetedKeyboardEvent } from 'preact'

/** Where a key leads from the button with this index. */
const MOVES: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowRight: (index, count) => (index + 1) % count,
  ArrowDown: (index, count) => (index + 1) % count,
  ArrowLeft: (index, count) => (index - 1 + count) % count,
  ArrowUp: (index, count) => (index - 1 + count) % count,
  Home: () => 0,
  End: (_index, count) => count - 1,
}

/**
 * Moves the focus to another button of the group, by the arrow keys, Home and End.
 * Returns the button that has it then, or undefined if the key is another.
 */
export function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): HTMLButtonElement | undefined {
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const index = buttons.indexOf(document.activeElement as HTMLButtonElement)
  const button = index < 0 ? undefined : buttons[MOVES[event.key]?.(index, buttons.length) ?? -1]
  if (button === undefined) return undefined
  event.preventDefault()
  button.focus()
  return button
}
