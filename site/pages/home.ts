// The start page. Its texts come from the README.
import { html, type Html } from '../../bench/report/html.ts'
import { groups } from './contents.ts'
import { sectionsOf } from './document.ts'
import type { Linking, Markdown } from './markdown.ts'

/** Makes the start page of the README's title, opening and pictures. */
export function home(readme: string, markdown: Markdown, linking: Linking): Html {
  const opening = sectionsOf(readme)[0]?.text.replace(/^# .*\n/, '') ?? ''
  const about = (paragraph: string) => markdown.renderInline(paragraph.replaceAll('\n', ' '), linking)
  const [lead = ''] = opening.trim().split('\n\n')
  const code = commentsAbove(/```ts\n([^]*?)```/.exec(opening)?.[1] ?? '')
  const pictures = [...readme.matchAll(/!\[([^\]]+)\]\(([^)]+)\)/g)].map(([, caption = '', file = '']) => ({
    caption: caption.replaceAll('\n', ' '),
    file,
  }))
  const [herd, playground] = ['herd', 'playground'].map(name => pictures.find(({ file }) => file.includes(name)))
  const claims = [...opening.matchAll(/^- ([^]*?)(?=\n- |\n\n)/gm)].map(([, claim = '']) =>
    claim.replaceAll(/\n */g, ' '),
  )
  if (code === '' || herd === undefined || playground === undefined || claims.length < 3)
    throw new Error('the README does not open as the start page needs')
  return html`<div class="hero">
      <div>
        <h1>ZooKeeper for TypeScript, from the wire up</h1>
        <p class="lead">${about(lead)}</p>
        <div class="actions">
          <a href="start.html">Get started</a>
          <a href="playground.html">Open the playground</a>
        </div>
        <div class="install">${markdown.code('npm install zkwire', 'sh')}</div>
      </div>
      <a href="playground.html"><img src="${linking.link(playground.file)}" alt="${playground.caption}" /></a>
    </div>
    <h2 id="first">A first program</h2>
    ${markdown.code(code, 'ts', { file: 'first.mjs', linkOf: name => (/^[A-Z]|^connect$/.test(name) ? linking.api(name) : undefined) })}
    <h2 id="why">What it does for you</h2>
    <ul class="cards claims">
      ${claims.map(claim => html`<li><p>${about(claim)}</p></li>`)}
    </ul>
    <h2 id="playground">See it work</h2>
    <p>
      <a href="playground.html">The playground</a> runs this client and this server in your browser. You see each frame
      between them and its bytes. Kill a client, stop it, lose an answer, and step back in time.
      <a href="lessons.html">The lessons</a> tell the stories worth knowing, and ask before they show.
    </p>
    <h2 id="herd">One release, 999 waiters</h2>
    <div class="figure">
      <img src="${linking.link(herd.file)}" alt="${herd.caption}" />
      <div>
        <p>${herd.caption}.</p>
        <p>
          <a href="herd.html">What a herd costs</a> measures it on Apache ZooKeeper,
          <a href="report.html">the report</a> shows every frame, and in
          <a href="playground.html">the playground</a> you release the lock yourself.
        </p>
      </div>
    </div>
    <h2 id="guides">All guides</h2>
    <div class="index">
      ${groups.map(
        ({ title, guides }) =>
          html`<section>
            <h3>${title}</h3>
            <ul>
              ${guides.map(each => html`<li><a href="${each.name}.html">${each.title}</a> <small>${each.about}</small></li>`)}
            </ul>
          </section>`,
      )}
    </div>`
}

/** Puts each comment above its code, because the two side by side are wider than their half of the page. */
const commentsAbove = (code: string): string => code.replaceAll(/^( *)(\S.*) (\/\/ .*)$/gm, '$1$3\n$1$2')
