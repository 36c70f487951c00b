// Puts the playground in the place of each picture that shows a moment of it.

export function playScenes(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a.scene')) {
    const frame = document.createElement('iframe')
    frame.src = `${link.href}&embed`
    frame.title = link.querySelector('img')?.alt ?? ''
    frame.loading = 'lazy'
    frame.className = 'scene'
    link.replaceWith(frame)
  }
}
