# assay alone, in an empty container:
#   docker build -t assay . && docker run --rm -v "$PWD":/data assay summary /data/trace.json.gz
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /assay ./cmd/assay

FROM scratch
COPY --from=build /assay /assay
# Compressed SQLite exports are unpacked in /tmp.
WORKDIR /tmp
WORKDIR /data
ENTRYPOINT ["/assay"]
