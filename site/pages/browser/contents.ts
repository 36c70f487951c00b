// Marks the heading that the reader has reached, in the contents beside the text. On a wide window, opens the menu.

export function markWhereTheReaderIs(): void {
  const menu = document.querySelector<HTMLDetailsElement>('.menu details')
  const isWide = matchMedia('(min-width: 62rem)')
  const open = () => {
    if (menu !== null) menu.open = isWide.matches
  }
  open()
  isWide.addEventListener('change', open)
  menu?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map(link => [link.hash.slice(1), link]),
  )
  if (links.size === 0) return
  const headings = [...links.keys()].flatMap(id => document.getElementById(decodeURIComponent(id)) ?? [])
  const mark = () => {
    const reached = headings.findLast(heading => heading.getBoundingClientRect().top < 140) ?? headings[0]
    for (const [id, link] of links) link.toggleAttribute('data-here', decodeURIComponent(id) === reached?.id)
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}
