// Writes the tables of an SQLite database as Parquet files, with two writers that share no code with assay.
//
//   python3 dump.py nsys.sqlite csv && node make.mjs
//
// Needs the packages @duckdb/node-api and hyparquet-writer of npm.
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteFile } from 'hyparquet-writer'
import fs from 'fs'

const schema = JSON.parse(fs.readFileSync('csv/schema.json'))
const connection = await (await DuckDBInstance.create(':memory:')).connect()

// Types as narrow as those of nsys.
const narrow = {
  deviceId: 'INTEGER', contextId: 'INTEGER', streamId: 'UINTEGER', correlationId: 'UINTEGER', copyKind: 'UTINYINT',
  eventClass: 'USMALLINT', eventType: 'USMALLINT', nameId: 'UINTEGER', demangledName: 'UINTEGER', id: 'UINTEGER',
}
for (const [name, columns] of schema) {
  await connection.run(`CREATE TABLE "${name}" (${columns.map(([c, type]) => `"${c}" ${type === 'BIGINT' && narrow[c] || type}`).join(', ')})`)
  await connection.run(`COPY "${name}" FROM 'csv/${name}.csv' (HEADER false, QUOTE '"', ESCAPE '"', NULLSTR '\\N', AUTO_DETECT false)`)
  for (const [dir, options] of [['snappy_pqtdir', 'COMPRESSION snappy'], ['zstd_pqtdir', 'COMPRESSION zstd']]) {
    fs.mkdirSync(dir, { recursive: true })
    await connection.run(`COPY "${name}" TO '${dir}/${name}.parquet' (FORMAT parquet, ${options})`)
  }
  // Row groups of 40 rows and pages of a few values, in their second form.
  const rows = (await connection.runAndReadAll(`SELECT ${columns.map(([c, type]) => `"${c}"::${type}`).join(', ')} FROM "${name}"`)).getRows()
  fs.mkdirSync('groups_pqtdir', { recursive: true })
  parquetWriteFile({
    filename: `groups_pqtdir/${name}.parquet`, rowGroupSize: 40, pageSize: 200,
    columnData: columns.map(([c, type], i) => ({
      name: c, data: rows.map(row => row[i]), type: { BIGINT: 'INT64', DOUBLE: 'DOUBLE', VARCHAR: 'STRING' }[type],
    })),
  })
}

// Every encoding that is read, for each type that can have it, with and without nulls.
const n = 300
const values = {
  INT32: [i => i * i * 7919 % 4001 - 2000, i => i % 3, i => 1 - 2147483648 + i],
  INT64: [i => BigInt(i) * 123456789012n - 5n, i => BigInt(i % 5), i => i % 2 ? -(2n ** 63n) : 2n ** 63n - 1n],
  DOUBLE: [i => i * 1.75 - 100], FLOAT: [i => i * 0.5 - 3], BOOLEAN: [i => i % 3 === 0, i => i < 200],
  STRING: [i => 'aten::' + 'x'.repeat(i % 7) + i, i => ['gemm', '', 'é'][i % 3]],
}
const encodings = {
  INT32: ['PLAIN', 'RLE_DICTIONARY'], INT64: ['PLAIN', 'RLE_DICTIONARY'], DOUBLE: ['PLAIN'], FLOAT: ['PLAIN'], BOOLEAN: ['PLAIN', 'RLE'],
  STRING: ['PLAIN', 'RLE_DICTIONARY'],
}
const columnData = []
for (const [type, makers] of Object.entries(values))
  for (const [k, make] of makers.entries())
    for (const encoding of encodings[type])
      for (const nulls of [0, 1, 4])
        columnData.push({ name: `${type}_${k}_${encoding}_${nulls}`, type, encoding, nullable: nulls > 0,
          data: Array.from({ length: n }, (_, i) => nulls && (nulls === 1 ? i < 250 : i % nulls === 1) ? undefined : make(i)) })
parquetWriteFile({ filename: 'encodings.parquet', columnData, rowGroupSize: 110, pageSize: 150 })
fs.writeFileSync('encodings.json', JSON.stringify(Object.fromEntries(columnData.map(c => [c.name, c.data.map(v => v === undefined ? null : typeof v === 'string' ? v : String(v))]))))

// An encoding that is not read.
await connection.run(`COPY "StringIds" TO 'delta.parquet' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2)`)
