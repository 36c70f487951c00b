// Forecasts with the numbers of the form. Without this script the page shows one forecast, and no form.
import { adviceOf } from '../../model/advice.ts'
import type { Model } from '../../model/terms.ts'

const form = document.querySelector<HTMLFormElement>('form.forecast-form')
const forecast = document.querySelector<HTMLElement>('.forecast')
const data = document.querySelector('#model')
if (form !== null && forecast !== null && data !== null) listen(form, forecast, JSON.parse(data.textContent) as Model)

function listen(form: HTMLFormElement, forecast: HTMLElement, model: Model): void {
  const number = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).valueAsNumber
  const show = () => {
    const wrong = [...form.querySelectorAll('input')].find(input => !input.validity.valid)
    if (wrong !== undefined) {
      const label = wrong.labels?.[0]?.textContent.trim() ?? wrong.name
      fill(forecast, `${label}: ${wrong.min} to ${wrong.max} please.`, [])
      return
    }
    const { heading, sentences } = adviceOf(model, number('size'), {
      lineRate: number('lineRate') * 1e6,
      cores: number('cores'),
      roundTrip: number('roundTrip'),
      releases: number('releases'),
    })
    fill(forecast, heading, sentences)
  }
  form.addEventListener('input', show)
  form.addEventListener('submit', event => event.preventDefault())
  form.hidden = false
}

function fill(forecast: HTMLElement, heading: string, sentences: readonly string[]): void {
  const items = sentences.map(sentence => {
    const item = document.createElement('li')
    item.textContent = sentence
    return item
  })
  forecast.querySelector('p')?.replaceChildren(heading)
  forecast.querySelector('ul')?.replaceChildren(...items)
}
