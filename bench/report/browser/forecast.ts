// Forecasts with the numbers of the form. Without this script the page shows one forecast, and no form.
import { adviceOf } from '../../model/advice.ts'
import { conditionsOf, fieldProblem, FIELDS, type Field } from '../../model/fields.ts'
import type { Model } from '../../model/terms.ts'

const form = document.querySelector<HTMLFormElement>('form.forecast-form')
const forecast = document.querySelector<HTMLElement>('.forecast')
const data = document.querySelector('#model')
if (form !== null && forecast !== null && data !== null) listen(form, forecast, JSON.parse(data.textContent) as Model)

function listen(form: HTMLFormElement, forecast: HTMLElement, model: Model): void {
  const number = ({ name }: Field) => (form.elements.namedItem(name) as HTMLInputElement).valueAsNumber
  const show = () => {
    const wrong = FIELDS.find(field => fieldProblem(field, number(field)) !== undefined)
    if (wrong !== undefined) {
      fill(forecast, `${wrong.label}: ${fieldProblem(wrong, number(wrong)) ?? ''} please.`, '', [])
      return
    }
    const { contenders, conditions } = conditionsOf(number)
    const lock = (form.elements.namedItem('lock') as HTMLSelectElement).value
    const { verdict = '', heading, sentences } = adviceOf(model, contenders, conditions, lock)
    fill(forecast, verdict, heading, sentences)
  }
  form.addEventListener('input', show)
  form.addEventListener('submit', event => event.preventDefault())
  form.hidden = false
}

function fill(forecast: HTMLElement, verdict: string, heading: string, sentences: readonly string[]): void {
  const items = sentences.map(sentence => {
    const item = document.createElement('li')
    item.textContent = sentence
    return item
  })
  forecast.querySelector('.verdict')?.replaceChildren(verdict)
  forecast.querySelector('.conditions')?.replaceChildren(heading)
  forecast.querySelector('ul')?.replaceChildren(...items)
}
