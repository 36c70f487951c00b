// What the service counts, for Prometheus.
import { Counter, Gauge, Registry } from 'prom-client'

export class Metrics {
  readonly registry = new Registry()
  readonly #with = { registers: [this.registry] }
  readonly connected = new Gauge({ name: 'zookeeper_connected', help: '1 while a server serves us', ...this.#with })
  readonly outages = new Counter({ name: 'zookeeper_outages_total', help: 'Lost connections', ...this.#with })
  readonly outageSeconds = new Counter({
    ...{ name: 'zookeeper_outage_seconds_total', help: 'Time without a connection', ...this.#with },
  })
  readonly leading = new Gauge({ name: 'service_leading', help: '1 while this process leads', ...this.#with })
  readonly steps = new Counter({ name: 'service_steps_total', help: 'Steps of the work', ...this.#with })
}
