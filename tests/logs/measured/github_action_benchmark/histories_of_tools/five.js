window.BENCHMARK_DATA = {
  "repoUrl": "https://github.com/org/lib",
  "entries": {
    "unit": [
      {
        "commit": {
          "id": "0123456789abcdef0123456789abcdef01234567"
        },
        "date": 1700000000000,
        "tool": "cargo",
        "benches": [
          {
            "name": "encode",
            "unit": "us",
            "value": 12.5,
            "range": "\u00b1 3 %"
          },
          {
            "name": "decode",
            "unit": "req/s",
            "value": 40,
            "range": "\u00b11.5",
            "extra": "25 samples"
          },
          {
            "name": "free memory",
            "unit": "Megabytes",
            "value": 150,
            "range": 5
          },
          {
            "name": "load",
            "unit": "Percent",
            "value": 50,
            "range": "5%"
          },
          {
            "name": "calls",
            "unit": "calls",
            "value": 7,
            "range": "stddev: 0.2"
          }
        ]
      }
    ],
    "load": [
      {
        "commit": {
          "id": "0123456789abcdef0123456789abcdef01234567"
        },
        "date": 1700000000000,
        "tool": "cargo",
        "benches": [
          {
            "name": "encode",
            "unit": "us",
            "value": 12.5,
            "range": "\u00b1 3 %"
          },
          {
            "name": "decode",
            "unit": "req/s",
            "value": 40,
            "range": "\u00b11.5",
            "extra": "25 samples"
          },
          {
            "name": "free memory",
            "unit": "Megabytes",
            "value": 150,
            "range": 5
          },
          {
            "name": "load",
            "unit": "Percent",
            "value": 50,
            "range": "5%"
          },
          {
            "name": "calls",
            "unit": "calls",
            "value": 7,
            "range": "stddev: 0.2"
          }
        ]
      }
    ]
  }
};
