/** How long the browser can take to read a file, in milliseconds. */
const KEPT = 60_000

/** Lets the browser save a text as a file. */
export function saveFile(name: string, type: 'image/svg+xml' | 'text/html', text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT)
}
