// s3rver behind a check of signatures (AWS version 4), which it does not make itself. For S3Server of servers.h.
// SPDX-License-Identifier: MIT
//
// Usage: s3_server.js S3RVER_FOLDER DATA_FOLDER PORT
//
// The access key S3RVER has the secret S3RVER; EXPIRED as a session token has expired. Requests without a signature may
// read what is below `public/`.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const path = require('path');
const S3rver = require(process.argv[2]);

const clockSkewMaxMs = 15 * 60 * 1000;
const secrets = { S3RVER: 'S3RVER' };

const hmac = (key, text) => crypto.createHmac('sha256', key).update(text).digest();
const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');

// Query parameters are sorted by the server, whatever order they come in.
function canonicalQuery(query) {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&');
}

function canonicalRequest(request, signedHeaders) {
  const [path, query = ''] = request.url.split('?');
  const headers = signedHeaders.map((name) => `${name}:${(request.headers[name] || '').trim().replace(/ +/g, ' ')}\n`);
  return [
    request.method,
    path,
    canonicalQuery(query),
    headers.join(''),
    signedHeaders.join(';'),
    request.headers['x-amz-content-sha256'],
  ].join('\n');
}

// The code of what is wrong with it; undefined: nothing.
function problemOf(request) {
  const authorization = request.headers.authorization;
  if (!authorization) {
    return request.method === 'GET' && /^\/shaders\/public\//.test(request.url) ? undefined : 'AccessDenied';
  }
  const parts = /^AWS4-HMAC-SHA256 Credential=([^,/]+)\/(\d{8})\/([^,/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(authorization);
  if (!parts) return 'AuthorizationHeaderMalformed';
  const [, key, day, region, headers, signature] = parts;
  const secret = secrets[key];
  if (!secret) return 'InvalidAccessKeyId';
  const date = request.headers['x-amz-date'] || '';
  const moment = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - moment) < clockSkewMaxMs)) return 'RequestTimeTooSkewed';
  const signed = headers.split(';');
  const mustBeSigned = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (!mustBeSigned.every((name) => signed.includes(name))) return 'AccessDenied';
  // Ceph skips a header that is signed and not sent, so that its signature is another.
  if (!signed.every((name) => name in request.headers)) return 'SignatureDoesNotMatch';
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest(request, signed))].join('\n');
  const signingKey = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request');
  if (hmac(signingKey, text).toString('hex') !== signature) return 'SignatureDoesNotMatch';
  return request.headers['x-amz-security-token'] === 'EXPIRED' ? 'ExpiredToken' : undefined;
}

// Whether the content is the one that was signed is known at its end only, as in S3.
function checkContent(request) {
  const expected = request.headers['x-amz-content-sha256'];
  if (!expected || !/^[0-9a-f]{64}$/.test(expected)) return;
  const hash = crypto.createHash('sha256');
  request.on('data', (piece) => hash.update(piece));
  request.on('end', () => {
    if (hash.digest('hex') !== expected) {
      console.error('a content is not the one that was signed');
      process.exit(1);
    }
  });
  request.pause();
}

function hasObject(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory() ? hasObject(path.join(folder, entry.name)) : entry.name.endsWith('._S3rver_object'));
}

// s3rver leaves out of a list, unlike S3, the folders that have nothing but folders.
function listFoldersToo() {
  const store = require(path.join(process.argv[2], 'lib', 'stores', 'filesystem')).prototype;
  const list = store.listObjects;
  store.listObjects = async function (bucket, options) {
    const listed = await list.call(this, bucket, options);
    const prefix = options.prefix || '';
    if (options.delimiter !== '/' || !(prefix === '' || prefix.endsWith('/'))) return listed;
    const folder = path.join(this.getBucketPath(bucket), prefix);
    const isFirstPage = !options.startAfter;
    const entries = isFirstPage && fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : [];
    listed.commonPrefixes = entries
      .filter((entry) => entry.isDirectory() && hasObject(path.join(folder, entry.name)))
      .map((entry) => `${prefix}${entry.name}/`)
      .sort();
    return listed;
  };
}

// s3rver writes an object where it is while its bytes come, so that one of a client that was killed is there, and empty.
// In S3 it is there once it is whole.
function putWhole() {
  const store = require(path.join(process.argv[2], 'lib', 'stores', 'filesystem')).prototype;
  let count = 0;
  store.putObject = async function (object) {
    const pieces = [];
    // Throws where the client has gone.
    for await (const piece of Buffer.isBuffer(object.content) ? [object.content] : object.content) pieces.push(piece);
    const content = Buffer.concat(pieces);
    const file = this.getResourcePath(object.bucket, object.key, 'object');
    const begun = `${file}.${++count}`;
    await fs.promises.mkdir(path.dirname(file), { recursive: true });
    await fs.promises.writeFile(begun, content);
    const md5 = crypto.createHash('md5').update(content).digest('hex');
    await this.putMetadata(object.bucket, object.key, object.metadata, md5);
    await fs.promises.rename(begun, file);
    return { size: content.length, md5 };
  };
}

async function main() {
  listFoldersToo();
  putWhole();
  const s3rver = new S3rver({
    directory: process.argv[3],
    silent: true,
    serviceEndpoint: 'localhost',
    configureBuckets: [{ name: 'shaders', configs: [] }],
  });
  await s3rver.configureBuckets();
  const serve = s3rver.callback();
  const server = http.createServer((request, response) => {
    const code = problemOf(request);
    if (code) {
      request.resume();
      response.writeHead(code === 'ExpiredToken' ? 400 : 403, { 'Content-Type': 'application/xml' });
      response.end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No</Message></Error>`);
      return;
    }
    checkContent(request);
    serve(request, response);
  });
  server.listen(Number(process.argv[4]), '127.0.0.1');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
