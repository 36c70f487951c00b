/** Names and values, in two columns. Undefined values are left out. */
export function Facts({ facts }: { facts: readonly [name: string, value: string | number | undefined][] }) {
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
