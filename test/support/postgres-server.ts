import pg from 'pg'

/** Does `work` on a connection of its own to the server of `TEST_DATABASE_URL`, in no database of a test. */
export async function withServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({connectionString: process.env.TEST_DATABASE_URL})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
