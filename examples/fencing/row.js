// A row of PostgreSQL: create table jobs (id text primary key, token bigint not null default 0, data text)
export class FencedRow {
  #db
  #id

  /** @param db a Client or a Pool of the package pg */
  constructor(db, id) {
    this.#db = db
    this.#id = id
  }

  /** Raises the token of the row and reads its data, in one statement. */
  async register(token) {
    const statement = 'update jobs set token = $2 where id = $1 and token <= $2 returning data'
    const { rows } = await this.#db.query(statement, [this.#id, String(token)])
    if (rows.length === 0) throw new Error(`token ${token} is late, or there is no row ${this.#id}`)
    return rows[0].data
  }

  /** @throws Error if a later holder has registered, and then nothing is written */
  async write(token, data) {
    const statement = 'update jobs set data = $3 where id = $1 and token = $2'
    const { rowCount } = await this.#db.query(statement, [this.#id, String(token), data])
    if (rowCount === 0) throw new Error(`token ${token} is late: a later holder has registered`)
  }
}
