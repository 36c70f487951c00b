// The page that lists the lessons. The playground plays them.
import { html } from '../../bench/report/html.ts'
import { LESSONS } from '../lessons/index.ts'
import { choicesOf, type Step } from '../lessons/lesson.ts'
import type { Page } from './layout.ts'
import type { Linking, Markdown } from './markdown.ts'
import type { Findable } from './search-fields.ts'

const TITLE = 'Lessons'
const addressOf = (link: string): string => `playground.html#lesson=${link}`

export function lessonsPage(markdown: Markdown, linking: Linking): { page: Page; found: Findable[] } {
  const content = html`<h1>${TITLE}</h1>
    <p>
      Each lesson tells a story in <a href="playground.html">the playground</a>, with a real client and a real server in
      the page. It asks before it shows. The later lessons build on the earlier ones.
    </p>
    <ol class="cards lessons">
      ${LESSONS.map(
        ({ id, title, summary, steps }, i) =>
          html`<li>
            <h2 id="${id}"><a href="${addressOf(id)}">${i + 1}. ${title}</a></h2>
            <p>${markdown.renderInline(summary, linking)}</p>
            <p class="label">${questionsIn(steps.filter(({ question }) => question !== undefined).length)}</p>
          </li>`,
      )}
    </ol>`
  return {
    page: {
      path: 'lessons.html',
      title: TITLE,
      description: `${LESSONS.length} stories about ZooKeeper to play`,
      content,
    },
    found: LESSONS.flatMap(({ id, title, summary, steps }) => [
      { address: addressOf(id), title, page: TITLE, text: plain(summary) },
      ...steps.map((step, i) => ({
        address: addressOf(`${id}.${i + 1}`),
        title: `${title}, step ${i + 1}`,
        page: TITLE,
        text: plain(textOf(step)),
      })),
    ]),
  }
}

const textOf = ({ text, question }: Step): string =>
  question === undefined ? text : [text, question.text, ...choicesOf(question), question.explanation].join(' ')

const plain = (text: string): string => text.replaceAll('`', '')

const questionsIn = (count: number): string => `${count} ${count === 1 ? 'question' : 'questions'}`
