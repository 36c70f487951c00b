// What the address of the page says after `#`: a link, and whether another page has this one in a frame.

/** Ends the address of a page that shows only the stage and its buttons: `playground.html#lesson=herd.1&embed`. */
const EMBED = '&embed'

export function linkInAddress(): { link: string; isEmbedded: boolean } {
  const text = location.hash.slice(1)
  const isEmbedded = text.endsWith(EMBED)
  return { link: isEmbedded ? text.slice(0, -EMBED.length) : text, isEmbedded }
}

/** Puts a link into the address. Whether the page is embedded stays as it is. */
export function showInAddress(link: string): void {
  const address = linkInAddress()
  if (address.link !== link) history.replaceState(null, '', `#${link}${address.isEmbedded ? EMBED : ''}`)
}
