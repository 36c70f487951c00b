/** Says which keys do what. */
export function Keys() {
  return (
    <section class="panel keys" aria-labelledby="keys-title">
      <h2 id="keys-title">By keyboard</h2>
      <dl>
        <div>
          <dt>
            <kbd>Space</kbd>
          </dt>
          <dd>plays and pauses</dd>
        </div>
        <div>
          <dt>
            <kbd>←</kbd> <kbd>→</kbd>
          </dt>
          <dd>
            one frame back, one frame forward; among clients, among nodes, and in the lanes, the one before and the next
          </dd>
        </div>
        <div>
          <dt>
            <kbd>Home</kbd> <kbd>End</kbd>
          </dt>
          <dd>to the first and the last client, or node of a server</dd>
        </div>
        <div>
          <dt>
            <kbd>Tab</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>to a client, a node or a frame, and its details</dd>
        </div>
      </dl>
    </section>
  )
}
